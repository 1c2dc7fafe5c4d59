import { TerminalError } from '../../../core/errors.ts';

/**
 * Decodes a standard base64 text like Go, which ignores line breaks.
 * @throws TerminalError with the offset of the first wrong character or incomplete group.
 */
export function decodeBase64(text: string): Buffer {
  const plain = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, '') : text;
  const wrong = firstWrong(plain);
  if (wrong === -1) return Buffer.from(plain, 'base64');
  throw new TerminalError(`illegal base64 data at input byte ${offsetIn(text, wrong)}`);
}

const foreign = /[^A-Za-z0-9+/]/g;

/** Offset of the first wrong character or incomplete group, where Go stops; -1 if none. */
function firstWrong(text: string): number {
  foreign.lastIndex = 0;
  const end = foreign.exec(text)?.index ?? text.length;
  const rest = end % 4;
  if (end === text.length) return rest === 0 ? -1 : end - rest;
  if (text.charAt(end) !== '=' || rest < 2) return end;
  const padding = '='.repeat(4 - rest);
  if (text.startsWith(padding, end)) {
    return end + padding.length === text.length ? -1 : end + padding.length;
  }
  return text.length === end + 1 ? text.length : end;
}

function offsetIn(text: string, wanted: number): number {
  let seen = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.charAt(at) === '\n' || text.charAt(at) === '\r') continue;
    if (seen === wanted) return at;
    seen += 1;
  }
  return text.length;
}
