/** Control characters, and those that turn the direction of text; not what ends a line, nor tabs. */
const invisible = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * For terminals: messages, names and content may be written by strangers, and are to be seen, not
 * obeyed.
 */
export function visibleText(text: string): string {
  return text.replace(invisible, escaped);
}

/** The same for what must stay on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/[\n\t]/g, escaped);
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
}
