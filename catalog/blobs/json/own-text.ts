/**
 * A copy of a text that was cut from a document: V8 keeps the whole document in memory as long as
 * any part of it. For the few texts that outlive their blob.
 */
export function ownText(text: string): string {
  if (text.length < shortestPart) return text;
  return text.isWellFormed()
    ? Buffer.from(text, 'utf8').toString('utf8')
    : Buffer.from(text, 'utf16le').toString('utf16le');
}

/** V8 copies shorter parts itself. */
const shortestPart = 13;
