import { TerminalError } from '../../../core/errors.ts';

/**
 * Offset behind the JSON string that starts at the offset. V8 matches a whole string with an
 * expression only up to some megabytes.
 * @throws TerminalError if the text ends before the string does
 */
export function endOfString(json: string, start: number): number {
  let end = start;
  do end = json.indexOf('"', end + 1);
  while (isEscaped(json, end));
  if (end === -1) throw new TerminalError('unexpected end of JSON input');
  return end + 1;
}

/** Whether an odd number of backslashes precedes the offset. */
function isEscaped(json: string, at: number): boolean {
  let before = at - 1;
  while (json.charCodeAt(before) === code.backslash) before -= 1;
  return (at - before) % 2 === 0;
}

const code = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  leftBracket: 0x5b,
  backslash: 0x5c,
  rightBracket: 0x5d,
  leftBrace: 0x7b,
  rightBrace: 0x7d,
} as const;

/** Compact JSON over several lines; strings, numbers and order stay unchanged. */
export function indentedText(json: string, indent: string): string {
  const lines: string[] = [];
  const line = (depth: number): string => (lines[depth] ??= `\n${indent}${'    '.repeat(depth)}`);
  let text = '';
  let depth = 0;
  let copied = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case code.quote:
        at = endOfString(json, at) - 1;
        break;
      case code.leftBrace:
      case code.leftBracket:
        if (isClosing(json.charCodeAt(at + 1))) {
          at += 1;
          break;
        }
        depth += 1;
        text += json.slice(copied, at + 1) + line(depth);
        copied = at + 1;
        break;
      case code.rightBrace:
      case code.rightBracket:
        depth -= 1;
        text += json.slice(copied, at) + line(depth);
        copied = at;
        break;
      case code.comma:
        text += json.slice(copied, at + 1) + line(depth);
        copied = at + 1;
        break;
      case code.colon:
        text += `${json.slice(copied, at + 1)} `;
        copied = at + 1;
        break;
    }
  }
  return text + json.slice(copied);
}

function isClosing(character: number): boolean {
  return character === code.rightBrace || character === code.rightBracket;
}
