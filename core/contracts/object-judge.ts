import type { HealthRule } from '../../api/v1alpha1/deployment-policies.ts';

/** A live object that a rule of its owner is for. */
export interface JudgedObject {
  /** Index of the rule. */
  readonly rule: number;
  /** The object as JSON. */
  readonly json: string;
}

/** What a rule says of an object, in the terms of kstatus. */
export interface Verdict {
  readonly status: 'Current' | 'InProgress' | 'Failed';
  readonly message: string;
}

export interface JudgeRequest {
  /** Name of the BundleDeployment, for messages. */
  readonly owner: string;
  /** Of its spec.health. */
  readonly rules: readonly HealthRule[];
  readonly objects: readonly JudgedObject[];
  readonly signal: AbortSignal;
}

/** Evaluates rules that users wrote, with bounds on time and memory, outside of this process. */
export interface ObjectJudge {
  /**
   * Verdicts in the order of the objects.
   * @throws Error with one sentence where the rules exceed the bounds. Requests of others go on.
   */
  judge(request: JudgeRequest): Promise<readonly Verdict[]>;
}
