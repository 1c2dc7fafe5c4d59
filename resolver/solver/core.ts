import { type Constraints, search } from './search.ts';
import type { Work } from './work.ts';

/**
 * Leaves out of a core, one after the other, each constraint without which the rest still cannot hold.
 * `core` numbers constraints that cannot hold together.
 */
export function minimalCore(
  constraints: Constraints,
  core: ReadonlySet<number>,
  work: Work,
): Constraints {
  const select = (numbers: ReadonlySet<number>): Constraints =>
    new Map([...constraints].filter(([number]) => numbers.has(number)));
  let left = select(core);
  for (const number of left.keys()) {
    if (!left.has(number)) continue;
    const rest = new Map(left);
    rest.delete(number);
    const answer = search(rest, work);
    if (answer.kind === 'unsatisfiable') left = select(answer.core);
  }
  return left;
}
