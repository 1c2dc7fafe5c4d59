/** Order of texts as Go sorts them: by their bytes in UTF-8. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  if (isBelowSurrogates(a) && isBelowSurrogates(b)) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Above that UTF-16 and UTF-8 sort differently. */
function isBelowSurrogates(text: string): boolean {
  return !/[\ud800-\uffff]/.test(text);
}
