/**
 * Whether a registry's `host[:port]` fits a pattern of the kubelet's kind: as many parts between
 * dots, `*` and `?` within a part, and the very same port.
 */
export function matchesHost(pattern: string, host: string): boolean {
  const wanted = splitPort(pattern);
  const actual = splitPort(host);
  return (
    wanted.port === actual.port &&
    wanted.parts.length === actual.parts.length &&
    wanted.parts.every((part, index) => matchesPart(part, actual.parts[index] ?? ''))
  );
}

function splitPort(host: string): { readonly parts: readonly string[]; readonly port: string } {
  const port = /:[0-9]+$/.exec(host)?.[0] ?? '';
  return { parts: host.slice(0, host.length - port.length).split('.'), port };
}

/** Takes one try after another at the last `*` only, so that no pattern is slow. */
function matchesPart(pattern: string, text: string): boolean {
  let position = 0;
  let star: { readonly after: number; covers: number } | undefined;
  for (let index = 0; index < text.length; ) {
    const char = pattern[position];
    if (char === '*') {
      position += 1;
      star = { after: position, covers: index };
    } else if (char === '?' || char === text[index]) {
      position += 1;
      index += 1;
    } else if (star !== undefined) {
      star.covers += 1;
      position = star.after;
      index = star.covers;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(position));
}
