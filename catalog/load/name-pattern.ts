/**
 * True if a file name matches a pattern of Go's filepath.Match: `*`, `?`, `[a-z]`, `[^a]`, `\`. A
 * malformed pattern matches nothing. Takes time in proportion to both lengths, for any pattern.
 */
export function matchesName(pattern: string, name: string): boolean {
  const tokens = tokensOf(pattern);
  if (tokens === undefined) return false;
  const characters = Array.from(name);
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < characters.length) {
    const wanted = tokens[token];
    if (wanted === anyText) {
      star = token;
      starAt = at;
      token += 1;
    } else if (wanted?.(characters[at] ?? '') === true) {
      token += 1;
      at += 1;
    } else if (star !== -1) {
      starAt += 1;
      at = starAt;
      token = star + 1;
    } else {
      return false;
    }
  }
  return tokens.slice(token).every((rest) => rest === anyText);
}

type Token = (character: string) => boolean;

function anyText(): boolean {
  return true;
}

const tokenPattern = /\*|\?|\[(\^?)((?:\\.|[^\]\\])+)\]|\\(.)|([^\\[])/suy;

function tokensOf(pattern: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; ) {
    tokenPattern.lastIndex = at;
    const match = tokenPattern.exec(pattern);
    if (match === null) return undefined;
    tokens.push(tokenOf(match));
    at = tokenPattern.lastIndex;
  }
  return tokens;
}

function tokenOf([text, not, members, escaped, plain]: RegExpExecArray): Token {
  if (text === '*') return anyText;
  if (text === '?') return () => true;
  if (members === undefined) return (character) => character === (escaped ?? plain);
  const ranges = [...members.matchAll(/(\\.|[^\\])(?:-(\\.|[^\\]))?/gsu)].map(
    ([, low = '', high = low]) => [bare(low), bare(high)] as const,
  );
  return (character) =>
    ranges.some(([low, high]) => low <= character && character <= high) === (not === '');
}

function bare(member: string): string {
  return member.length > 1 && member.startsWith('\\') ? member.slice(1) : member;
}
