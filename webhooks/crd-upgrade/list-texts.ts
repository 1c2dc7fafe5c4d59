/** A condition's message is at most 32 KiB, and more is said around these texts. */
const maxBytes = 24 * 1024;

/**
 * One text bare, several as `[a, b]`, as the API server prints lists of errors. What is too long
 * for a message is counted instead: `[a, b, and 7 more]`.
 */
export function listTexts(texts: readonly string[], uncounted = 0): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    bytes += Buffer.byteLength(text);
    if (bytes > maxBytes && kept.length > 0) break;
    kept.push(cut(text));
  }
  const more = texts.length - kept.length + uncounted;
  if (more > 0) kept.push(`and ${more} more`);
  return kept.length === 1 ? (kept[0] ?? '') : `[${kept.join(', ')}]`;
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  // A character that is cut in two is left out.
  return `${bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '')}…`;
}
