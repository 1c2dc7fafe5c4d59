/**
 * Control characters, including those that change the direction of text; except line breaks and
 * tabs.
 */
const invisible = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Text for a terminal with control characters escaped: others may have written messages, names and
 * content.
 */
export function visibleText(text: string): string {
  return text.replace(invisible, escaped);
}

/** The same for text that must stay on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/[\n\t]/g, escaped);
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
}

/**
 * A duration of milliseconds in its largest whole unit, in kubectl's format: `90s`, `5m`, `3h`,
 * `2d`.
 */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** `1 package`, `2 packages`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
