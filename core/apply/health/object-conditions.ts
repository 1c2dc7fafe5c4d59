import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, isMap, listOf, stringAt } from '../fields/json-fields.ts';

/** A condition as any controller may have written it: every part may be missing. */
export interface ObjectCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** The first condition of a type in an object's status. */
export function conditionOf(object: KubernetesObject, type: string): ObjectCondition | undefined {
  const found = listOf(fieldAt(object['status'], 'conditions')).find(
    (condition) => isMap(condition) && condition['type'] === type,
  );
  if (found === undefined) return undefined;
  return {
    status: stringAt(found, 'status') ?? '',
    reason: stringAt(found, 'reason') ?? '',
    message: stringAt(found, 'message') ?? '',
    lastTransitionTime: stringAt(found, 'lastTransitionTime') ?? '',
  };
}

export function isTrue(object: KubernetesObject, type: string): boolean {
  return conditionOf(object, type)?.status === 'True';
}
