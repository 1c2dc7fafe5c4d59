const mostCharacters = 8_000;
const keptAtEachEnd = 2_000;

/**
 * Helm's error, as long as a person may want to read it. One of templates that include each other
 * has a line for each of a thousand levels, and says at its end what is wrong.
 */
export function readableError(text: string): string {
  if (text.length <= mostCharacters) return text;
  const left = text.length - 2 * keptAtEachEnd;
  return `${text.slice(0, keptAtEachEnd)} … (${left} characters) … ${text.slice(-keptAtEachEnd)}`;
}
