import { HealthRules } from '../../core/apply/health/rules/health-rules.ts';
import judgeObjects from '../../core/apply/health/rules/judge-objects.ts';
import type { VerdictOptions } from '../../core/apply/health/rules/own-verdicts.ts';
import type { ObjectJudge } from '../../core/contracts/object-judge.ts';
import { ManualClock } from './manual-clock.ts';

/** Judges in the test's process, for rules that the test has written itself. */
export const inProcessJudge: ObjectJudge = {
  judge: async ({ rules, objects }) => judgeObjects(rules, objects),
};

export function someHealthRules(options: Partial<VerdictOptions> = {}): HealthRules {
  return new HealthRules({
    judge: inProcessJudge,
    clock: new ManualClock(),
    signal: new AbortController().signal,
    onJudged: () => undefined,
    ...options,
  });
}
