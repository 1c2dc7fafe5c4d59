import { parseJson } from '../../../../api/json.ts';
import type { KubernetesObject } from '../../../../api/meta.ts';
import type { HealthRule } from '../../../../api/v1alpha1/deployment-policies.ts';
import type { JudgedObject, Verdict } from '../../../contracts/object-judge.ts';
import type { CustomRule } from '../status.ts';
import { customRule } from './custom-rule.ts';

/** Some errors quote a whole text of the object. */
const maxMessage = 2_048;

/**
 * Judges objects by their owner's rules, one after the other. Nothing bounds the time and memory of
 * the rules here: call it in worker processes, which are killed when a call exceeds its limits.
 */
// oxlint-disable-next-line import/no-default-export -- what worker processes load
export default function judgeObjects(
  rules: readonly HealthRule[],
  objects: Iterable<JudgedObject>,
): readonly Verdict[] {
  const ready = new Map<number, CustomRule>();
  const ruleAt = (index: number): CustomRule => {
    const known = ready.get(index);
    if (known !== undefined) return known;
    const rule = rules[index];
    if (rule === undefined) throw new RangeError(`there is no rule ${index}`);
    const made = customRule(rule, index);
    ready.set(index, made);
    return made;
  };
  return Array.from(objects, ({ rule, json }) => {
    const { status, message } = ruleAt(rule)(parseJson(json) as unknown as KubernetesObject);
    return { status, message: message.slice(0, maxMessage) } as Verdict;
  });
}
