import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';

/** The outcome of kstatus for one object. */
export interface ObjectStatus {
  readonly status: 'Current' | 'InProgress' | 'Failed' | 'Terminating';
  readonly message: string;
  /** Milliseconds after which the status may change without any event. */
  readonly recheckAfter?: number;
  /** Set when the owner's rules must judge the object and have not. */
  readonly missingVerdict?: MissingVerdict;
}

/** A verdict that is being evaluated, or that the rules could not give. */
export type MissingVerdict = 'pending' | 'failed';

/** Judges the objects of one kind instead of a built-in rule. */
export type CustomRule = (object: KubernetesObject) => ObjectStatus;

export function current(message: string): ObjectStatus {
  return { status: 'Current', message };
}

export function inProgress(message: string): ObjectStatus {
  return { status: 'InProgress', message };
}

export function failed(message: string): ObjectStatus {
  return { status: 'Failed', message };
}

/** The message of the first failing check. */
export function firstProblem(
  checks: readonly (readonly [broken: boolean, message: string])[],
): ObjectStatus | undefined {
  const found = checks.find(([broken]) => broken);
  return found === undefined ? undefined : inProgress(found[1]);
}

/** A condition as any controller may have written it: every field may be missing. */
interface ObjectCondition {
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
