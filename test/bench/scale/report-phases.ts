import { median, type Row, rounded } from '../report.ts';
import type { Outcome } from './phase.ts';

type Run = ReadonlyMap<string, Outcome>;

/** The medians of the runs: a table of phases, one of requests for each, and one line of JSON. */
export function reportPhases(benchmark: string, runs: readonly Run[]): void {
  const names = [...(runs[0]?.keys() ?? [])];
  const phases = Object.fromEntries(
    names.map((name) => [name, medians(runs.map((run) => run.get(name)?.row ?? {}))]),
  );
  const requests = Object.fromEntries(
    names.map((name) => [name, medians(runs.map((run) => run.get(name)?.byVerb ?? {}))]),
  );
  // Phases as columns: there are more numbers than phases.
  console.table(transposed(phases));
  console.table(transposed(requests));
  const each = runs.map((run) => Object.fromEntries(run));
  console.log(JSON.stringify({ benchmark, runs: each, median: { phases, requests } }));
}

/** Counts a request as 0 in runs that did not make it. */
function medians(rows: readonly Row[]): Readonly<Record<string, number>> {
  const columns = new Set(rows.flatMap((row) => Object.keys(row)));
  return Object.fromEntries(
    [...columns].map((column) => [
      column,
      rounded(median(rows.map((row) => Number(row[column] ?? 0))), 2),
    ]),
  );
}

/** Every row names every column, or the table would have them in another order. */
function transposed(
  columns: Readonly<Record<string, Readonly<Record<string, number>>>>,
): Readonly<Record<string, Row>> {
  const rows = new Set(Object.values(columns).flatMap((values) => Object.keys(values)));
  return Object.fromEntries(
    [...rows].map((row) => [
      row,
      Object.fromEntries(
        Object.entries(columns).map(([column, values]) => [column, values[row] ?? '']),
      ),
    ]),
  );
}
