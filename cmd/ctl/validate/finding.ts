import type { Problem } from './problem.ts';
import type { FieldPlace, SourceLines } from './source-lines.ts';

/** One thing that a rule has found. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** What it is about. Absent for the bundle as such. */
  readonly place?: FieldPlace;
  /** In the words of the tool whose rule it is, where there is one. */
  readonly message: string;
  /** The way out. */
  readonly fix: string;
}

export type Found = Omit<Finding, 'severity'>;

export function error(found: Found): Finding {
  return { severity: 'error', ...found };
}

export function warning(found: Found): Finding {
  return { severity: 'warning', ...found };
}

/** The finding with the line that its place is on. */
export function problemOf({ severity, place, message, fix }: Finding, lines: SourceLines): Problem {
  const line = place && lines.lineOf(place);
  return {
    severity,
    ...(place === undefined ? {} : { file: place.file }),
    ...(line === undefined ? {} : { line }),
    message,
    fix,
  };
}
