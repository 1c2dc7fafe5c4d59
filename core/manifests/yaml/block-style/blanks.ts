const space = 0x20;
const tab = 0x09;

/** Offset of the first character at or after `from` that is no space. */
export function firstNonSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === space) at += 1;
  return at;
}

/** The text without spaces and tabs at its start. */
export function trimBlanksStart(text: string): string {
  let start = 0;
  while (isBlank(text, start)) start += 1;
  return start === 0 ? text : text.slice(start);
}

/** The text without spaces and tabs at its end. */
export function trimBlanksEnd(text: string): string {
  let end = text.length;
  while (isBlank(text, end - 1)) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === space || code === tab;
}
