/** One way to authenticate that a server offers (RFC 9110, section 11.6.1). */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** By name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads the challenges of WWW-Authenticate headers, leaving out what it cannot read. */
export function parseChallenges(header: string | readonly string[] | undefined): Challenge[] {
  const headers = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  return headers.flatMap(challengesOf);
}

function challengesOf(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  // Each match is a scheme's name, or a parameter of the scheme before it.
  const item = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;
  for (let match = item.exec(header); match !== null; match = item.exec(header)) {
    const name = (match[1] ?? '').toLowerCase();
    const value = match[2]?.replace(/\\(.)/g, '$1') ?? match[3];
    if (value === undefined) challenges.push({ scheme: name, parameters: new Map() });
    else challenges.at(-1)?.parameters.set(name, value);
  }
  return challenges;
}
