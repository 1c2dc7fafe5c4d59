import { HealthRules, type HealthRulesOptions } from '../../core/apply/drift/health-rules.ts';
import judgeObjects from '../../core/apply/health/rules/judge-objects.ts';
import { OwnerStates } from '../../core/apply/state/owner-states.ts';
import type { ObjectJudge } from '../../core/contracts/object-judge.ts';
import { ManualClock } from './manual-clock.ts';

/** Judges in the test's process, for rules that the test has written itself. */
export const inProcessJudge: ObjectJudge = {
  judge: async ({ rules, objects }) => judgeObjects(rules, objects),
};

export function someHealthRules(options: Partial<HealthRulesOptions> = {}): HealthRules {
  return new HealthRules({
    judge: inProcessJudge,
    owners: new OwnerStates(new ManualClock()),
    clock: new ManualClock(),
    signal: new AbortController().signal,
    onJudged: () => undefined,
    ...options,
  });
}
