import { matchesName } from './name-pattern.ts';

/** One line of an `.indexignore` file, as go-git reads it (ADR 62). */
interface IgnorePattern {
  /** Folders of the path to the file with the line. */
  readonly domain: readonly string[];
  readonly parts: readonly string[];
  readonly includes: boolean;
  readonly foldersOnly: boolean;
}

/** Files that `.indexignore` files exclude: the last matching line of all files decides. */
export class IgnorePatterns {
  readonly #patterns: IgnorePattern[] = [];

  /** Adds the lines of a file in a folder; callers add the files of outer folders first. */
  add(folder: readonly string[], content: string): void {
    for (const line of content.split('\n').map((each) => each.trim())) {
      if (line !== '' && !line.startsWith('#')) this.#patterns.push(parsePattern(line, folder));
    }
  }

  /** True if the file at the path, given by its parts, is excluded. */
  ignores(path: readonly string[]): boolean {
    const last = this.#patterns.findLast((pattern) => matches(pattern, path));
    return last !== undefined && !last.includes;
  }
}

function parsePattern(line: string, domain: readonly string[]): IgnorePattern {
  const includes = line.startsWith('!');
  const whole = includes ? line.slice(1) : line;
  const foldersOnly = whole.endsWith('/');
  const parts = (foldersOnly ? whole.slice(0, -1) : whole).split('/');
  return { domain, parts, includes, foldersOnly };
}

function matches({ domain, ...pattern }: IgnorePattern, path: readonly string[]): boolean {
  if (path.length <= domain.length) return false;
  if (domain.some((part, index) => path[index] !== part)) return false;
  const rest = path.slice(domain.length);
  const [name = ''] = pattern.parts;
  return pattern.parts.length === 1
    ? matchesAnyName(name, pattern.foldersOnly, rest)
    : matchesPath(pattern, rest);
}

function matchesAnyName(name: string, foldersOnly: boolean, path: readonly string[]): boolean {
  const found = path.findIndex((part) => matchesName(name, part));
  return found !== -1 && !(foldersOnly && found === path.length - 1);
}

type PathPattern = Pick<IgnorePattern, 'parts' | 'foldersOnly'>;

// A pattern matches a path and everything below it.
function matchesPath({ parts, foldersOnly }: PathPattern, path: readonly string[]): boolean {
  let at = 0;
  let anyDepth = false;
  // `**` at the end matches the rest of the path.
  const steps = parts.at(-1) === '**' ? parts.slice(0, -1) : parts;
  for (const part of steps) {
    if (part !== '' && part !== '**') {
      const found = nextMatch(part, path, at);
      if (found === -1 || (found !== at && !anyDepth)) return false;
      at = found + 1;
    }
    anyDepth = part === '**';
  }
  return at > 0 && !(foldersOnly && at >= path.length);
}

function nextMatch(part: string, path: readonly string[], from: number): number {
  // go-git supports `**` only as a whole part.
  if (part.includes('**')) return -1;
  return path.findIndex((name, index) => index >= from && matchesName(part, name));
}
