interface DiffSides {
  /** Names of the two sides in the header; /dev/null for a missing one. */
  readonly names: readonly [before: string, after: string];
  readonly before: string;
  readonly after: string;
}

/** Unchanged lines around each change. */
const context = 3;
const marks = { same: ' ', removed: '-', added: '+' } as const;

/** The output of `diff -u` for two texts; empty for equal ones. */
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

/** Start and end of each hunk: changes whose context overlaps share one. */
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

/** One line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/**
 * Maximum number of changes: beyond it the shortest edit script takes too long to find, and nobody
 * reads it.
 */
const maxEdits = 1_500;

/** The shortest edit script from one text to another, line by line (Myers). */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const head = commonLength(before, after);
  const tail = commonLength(before.slice(head).toReversed(), after.slice(head).toReversed());
  const left = before.slice(head, before.length - tail);
  const right = after.slice(head, after.length - tail);
  return [
    ...before.slice(0, head).map((text): DiffLine => ({ kind: 'same', text })),
    ...middle(left, right),
    ...before.slice(before.length - tail).map((text): DiffLine => ({ kind: 'same', text })),
  ];
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length += 1;
  return length;
}

function middle(left: readonly string[], right: readonly string[]): DiffLine[] {
  const trace = left.length === 0 || right.length === 0 ? undefined : search(left, right);
  if (trace !== undefined) return wayBack(trace, left, right);
  return [
    ...left.map((text): DiffLine => ({ kind: 'removed', text })),
    ...right.map((text): DiffLine => ({ kind: 'added', text })),
  ];
}

/** Furthest position in `left` by diagonal, one map per number of edits. */
type Trace = readonly ReadonlyMap<number, number>[];

function search(left: readonly string[], right: readonly string[]): Trace | undefined {
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(maxEdits, left.length + right.length); edits += 1) {
    trace.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(furthest, diagonal, edits);
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) {
        x += 1;
      }
      furthest.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length) return trace;
    }
  }
  return undefined;
}

function startOf(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  return isInsertion(furthest, diagonal, edits)
    ? (furthest.get(diagonal + 1) ?? 0)
    : (furthest.get(diagonal - 1) ?? 0) + 1;
}

function isInsertion(
  furthest: ReadonlyMap<number, number>,
  diagonal: number,
  edits: number,
): boolean {
  if (diagonal === -edits) return true;
  if (diagonal === edits) return false;
  return (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1);
}

function wayBack(trace: Trace, left: readonly string[], right: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [left.length, right.length];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const furthest = trace[edits] ?? new Map<number, number>();
    const inserted = isInsertion(furthest, x - y, edits);
    const start = edits === 0 ? 0 : startOf(furthest, x - y, edits);
    while (x > start) {
      x -= 1;
      y -= 1;
      lines.push({ kind: 'same', text: left[x] ?? '' });
    }
    if (edits === 0) break;
    if (inserted) {
      y -= 1;
      lines.push({ kind: 'added', text: right[y] ?? '' });
    } else {
      x -= 1;
      lines.push({ kind: 'removed', text: left[x] ?? '' });
    }
  }
  return lines.toReversed();
}
