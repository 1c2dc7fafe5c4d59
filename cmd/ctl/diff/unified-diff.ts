import { type DiffLine, diffLines } from './line-diff.ts';

export interface DiffSides {
  /** Names of the two sides, as in the header; /dev/null where there is none. */
  readonly names: readonly [before: string, after: string];
  readonly before: string;
  readonly after: string;
}

/** Unchanged lines around each change. */
const context = 3;
const marks = { same: ' ', removed: '-', added: '+' } as const;

/** What `diff -u` prints of two texts; empty where they are equal. */
export function unifiedDiff({ names, before, after }: DiffSides): string {
  if (before === after) return '';
  const lines = diffLines(linesOf(before), linesOf(after));
  const [left, right] = names;
  return `--- ${left}\n+++ ${right}\n${hunksOf(lines)
    .map(([start, end]) => hunkText(lines, start, end))
    .join('')}`;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Where each hunk begins and ends: changes whose surroundings touch are in one. */
function hunksOf(lines: readonly DiffLine[]): (readonly [start: number, end: number])[] {
  const hunks: (readonly [number, number])[] = [];
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    const [start, end] = [
      Math.max(0, index - context),
      Math.min(lines.length, index + context + 1),
    ];
    const last = hunks.at(-1);
    if (last !== undefined && start <= last[1]) hunks[hunks.length - 1] = [last[0], end];
    else hunks.push([start, end]);
  }
  return hunks;
}

function hunkText(lines: readonly DiffLine[], start: number, end: number): string {
  const hunk = lines.slice(start, end);
  const range = (other: DiffLine['kind'], sign: string): string => {
    const count = hunk.filter(({ kind }) => kind !== other).length;
    const first = lines.slice(0, start).filter(({ kind }) => kind !== other).length;
    return `${sign}${count === 0 ? first : first + 1}${count === 1 ? '' : `,${count}`}`;
  };
  const body = hunk.map(({ kind, text }) => `${marks[kind]}${text}\n`).join('');
  return `@@ ${range('added', '-')} ${range('removed', '+')} @@\n${body}`;
}
