import type { Condition } from '../../../api/meta.ts';
import { kstatusCondition as type } from '../../../api/v1alpha1/conditions.ts';
import type { Clock } from '../clock.ts';
import { conditionMessage, setCondition } from './conditions.ts';

/** What the conditions Ready, Reconciling and Stalled are to say, by the rules of kstatus. */
export interface Readiness {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Whether core goes on by itself, or not before something is changed; absent where neither is certain. */
  readonly outlook?: 'reconciling' | 'stalled' | undefined;
  /** The generation that all of it is about. */
  readonly observedGeneration: number | undefined;
}

/** These are a summary, for a column of a table: the condition that says so has all of it. */
const maxLength = 1_024;

/** The conditions with those three set; Reconciling and Stalled are there only while they are True. */
export function withReadiness(
  conditions: readonly Condition[],
  { status, reason, message, outlook, observedGeneration }: Readiness,
  clock: Clock,
): readonly Condition[] {
  const about = { reason, message: inOneLine(message), observedGeneration };
  const unneeded = [type.reconciling, type.stalled].filter((each) => each !== outlookType(outlook));
  const kept = conditions.filter((condition) => !unneeded.some((each) => each === condition.type));
  const ready = setCondition(kept, { type: type.ready, status, ...about }, clock);
  const outlookOf = outlookType(outlook);
  if (outlookOf === undefined) return ready;
  return setCondition(ready, { type: outlookOf, status: 'True', ...about }, clock);
}

function outlookType(outlook: Readiness['outlook']): string | undefined {
  return outlook === undefined ? undefined : type[outlook];
}

/** Cleaned before it is cut: half of a URL would keep its password. */
function inOneLine(message: string): string {
  const line = conditionMessage(message).replaceAll(/\n\s*/g, '; ');
  return line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()}… (cut)` : line;
}
