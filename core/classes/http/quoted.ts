const longest = 2_000;

// Control characters, and those that turn the direction of what follows them.
// oxlint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** What a server said, in one line that shows no token of ours. */
export function quoted(text: string, token: string | undefined): string {
  const some = text.slice(0, 4 * longest);
  const discreet = token === undefined ? some : some.replaceAll(token, '***');
  const line = discreet.replaceAll(unprintable, ' ').trim();
  return (line.length > longest ? `${line.slice(0, longest)}…` : line).toWellFormed();
}
