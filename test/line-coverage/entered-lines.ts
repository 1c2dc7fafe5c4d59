import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What Node writes at the end of a process that has NODE_V8_COVERAGE. */
interface Dump {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Line {
  readonly start: number;
  readonly end: number;
}

/** By file, relative to the checkout: the numbers of the lines that some process has entered. */
export type EnteredLines = Readonly<Record<string, readonly number[]>>;

const product =
  /^(api|catalog|operators|resolver|core|provisioners|webhooks|cmd|deploy|testing)\/(?!.*\.test\.ts$).*\.ts$/;

/** Reads all dumps in a folder, of processes that ran the sources of one checkout. */
export async function enteredLines(dumps: string, checkout: string): Promise<EnteredLines> {
  const root = pathToFileURL(join(checkout, '/')).href;
  const sources = new Map<string, readonly Line[]>();
  const entered = new Map<string, Set<number>>();
  for (const name of await readdir(dumps)) {
    const { result } = await readDump(join(dumps, name));
    for (const { url, functions } of result) {
      if (!url.startsWith(root)) continue;
      const file = relative(checkout, fileURLToPath(url));
      if (!product.test(file)) continue;
      const lines = sources.get(file) ?? linesOf(await readFile(join(checkout, file), 'utf8'));
      sources.set(file, lines);
      const found = entered.get(file) ?? new Set();
      entered.set(file, found);
      for (const line of linesEntered(lines, functions)) found.add(line);
    }
  }
  const files = [...entered].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(files.map(([file, lines]) => [file, [...lines].toSorted(ascending)]));
}

/** A process that was killed may have left half of one. */
async function readDump(path: string): Promise<Dump> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Dump;
  } catch {
    return { result: [] };
  }
}

/** Lines with code, by place; those of comments and brackets alone say nothing. */
function linesOf(source: string): readonly Line[] {
  let start = 0;
  return source.split('\n').map((text) => {
    const line = { start, end: start + text.length };
    start += text.length + 1;
    return /\w/.test(text) && !/^\s*(\/\/|\/?\*)/.test(text) ? line : { start: -1, end: -1 };
  });
}

/** Ranges come from the outside to the inside: the last one that holds a whole line tells. */
function linesEntered(
  lines: readonly Line[],
  functions: Dump['result'][number]['functions'],
): readonly number[] {
  const counts = lines.map(() => 0);
  for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
    for (let index = firstFrom(lines, startOffset); index < lines.length; index += 1) {
      const { start, end } = lines[index] ?? { start: -1, end: -1 };
      if (start === -1) continue;
      if (end > endOffset) break;
      counts[index] = count;
    }
  }
  return counts.flatMap((count, index) => (count > 0 ? [index + 1] : []));
}

function firstFrom(lines: readonly Line[], offset: number): number {
  const found = lines.findIndex(({ start }) => start >= offset);
  return found === -1 ? lines.length : found;
}

function ascending(a: number, b: number): number {
  return a - b;
}
