/** Receives progress lines. */
export type Progress = (line: string) => void;
