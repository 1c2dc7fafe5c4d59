export type Row = Readonly<Record<string, number | string>>;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? 0;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? 0) + upper) / 2 : upper;
}

/** Each run as a row, the medians of their numbers, and all of it as one line of JSON. */
export function report(benchmark: string, runs: readonly Row[]): void {
  const medians: Record<string, number> = {};
  for (const [column, value] of Object.entries(runs[0] ?? {})) {
    if (typeof value === 'string') continue;
    medians[column] = rounded(median(runs.map((run) => Number(run[column]))));
  }
  const rows = Object.fromEntries(runs.map((run, index) => [`run ${index + 1}`, run]));
  console.table({ ...rows, median: medians });
  console.log(JSON.stringify({ benchmark, runs, median: medians }));
}

export function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}
