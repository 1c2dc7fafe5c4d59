/** Takes one line for whoever watches. */
export type Progress = (line: string) => void;
