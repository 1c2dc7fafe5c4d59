import { yamlError } from './yaml-error.ts';

/**
 * Text of a manifest: UTF-8 without a byte order mark, every line ended by a single line feed.
 * @throws TerminalError for bytes that are not UTF-8 and for control characters, as Go does.
 */
export function decodeYamlText(content: Uint8Array | string): string {
  const written = typeof content === 'string' ? content.replace(/^\uFEFF/, '') : decode(content);
  // For Go a second mark is a blank.
  const decoded = written.replace(/^\uFEFF/, ' ');
  const bad = controlCharacter.exec(decoded);
  if (bad !== null) throw yamlError('control characters are not allowed');
  const text = decoded.includes('\r') ? decoded.replace(/\r\n?/g, '\n') : decoded;
  return text.endsWith('\n') ? text : `${text}\n`;
}

// What YAML's character set leaves out. The delete character and most of C1 are among it.
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

function decode(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw yamlError('invalid leading UTF-8 octet');
  }
}
