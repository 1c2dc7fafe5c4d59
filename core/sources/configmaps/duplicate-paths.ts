import { TerminalError } from '../../errors.ts';

/** Refuses paths that more than one ConfigMap gives, in RukPak's words. */
export function checkDuplicates(origins: ReadonlyMap<string, ReadonlySet<string>>): void {
  const problems = [...origins]
    .filter(([, names]) => names.size > 1)
    .map(([path, names]) => {
      return `duplicate path "${path}" found in configmaps [${[...names].sort().join(' ')}]`;
    });
  if (problems.length === 0) return;
  // Go's aggregates have brackets around more than one.
  throw new TerminalError(problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`);
}
