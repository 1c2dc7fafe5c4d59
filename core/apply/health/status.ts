import type { KubernetesObject } from '../../../api/meta.ts';

/** The outcome of kstatus for one object. */
export interface ObjectStatus {
  readonly status: 'Current' | 'InProgress' | 'Failed' | 'Terminating';
  readonly message: string;
  /** Milliseconds after which the outcome may differ without any event. */
  readonly recheckAfter?: number;
  /** Set where the owner's rules are to judge the object, and have not. */
  readonly missingVerdict?: MissingVerdict;
}

/** A verdict that is being worked out, or that the rules could not give. */
export type MissingVerdict = 'pending' | 'failed';

/** Judges the objects of one kind in place of a built-in rule. */
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

/** The message of the first check that does not hold. */
export function firstProblem(
  checks: readonly (readonly [broken: boolean, message: string])[],
): ObjectStatus | undefined {
  const found = checks.find(([broken]) => broken);
  return found === undefined ? undefined : inProgress(found[1]);
}
