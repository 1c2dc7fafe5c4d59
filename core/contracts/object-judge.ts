import type { HealthRule } from '../../api/v1alpha1/deployment-policies.ts';

/** A live object for a rule of its owner. */
export interface JudgedObject {
  /** Index of the rule. */
  readonly rule: number;
  /** The object as JSON. */
  readonly json: string;
}

/** The verdict of a rule about an object, in kstatus' terms. */
export interface Verdict {
  readonly status: 'Current' | 'InProgress' | 'Failed';
  readonly message: string;
}

export interface JudgeRequest {
  /** Name of the BundleDeployment, for messages. */
  readonly owner: string;
  /** Creators share what evaluates at once. */
  readonly creator: string;
  /** Rules of its spec.health. */
  readonly rules: readonly HealthRule[];
  readonly objects: readonly JudgedObject[];
  readonly signal: AbortSignal;
}

/** Evaluates users' rules outside of this process, with limits on time and memory. */
export interface ObjectJudge {
  /**
   * Verdicts in the order of the objects.
   * @throws Error with one sentence when the rules exceed the limits. Other requests continue.
   */
  judge(request: JudgeRequest): Promise<readonly Verdict[]>;
}
