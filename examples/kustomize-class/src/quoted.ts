const mostLetters = 200;

/** What somebody wrote, as messages hold it: on one line, and not at length. */
export function quoted(text: unknown): string {
  const written = String(text);
  return written.length > mostLetters
    ? `${JSON.stringify(written.slice(0, mostLetters))}…`
    : JSON.stringify(written);
}
