import type { Condition } from '../../api/meta.ts';
import type { Clock } from '../../core/controller.ts';
import type { Bundle, CatalogReference, Deprecation } from '../../resolver/candidates/index.ts';
import type { Dependency, FailedPackage, NewestBundle } from '../../resolver/olm1/index.ts';
import type { Admission } from './dependencies/dependency-gate.ts';
import type { Installation } from './deployment/installation.ts';
import type { Rollout } from './deployment/rollout.ts';
import type { Extension } from './extension.ts';

/** What one reconcile found, for the status. */
export interface Findings {
  readonly extension: Extension;
  readonly choice: Choice;
  /** After the BundleDeployment was written. */
  readonly installation: Installation;
  /** Undefined without a BundleDeployment. */
  readonly rollout: Rollout | undefined;
  /** Why the BundleDeployment is not as the choice wants it. */
  readonly refusal: string | undefined;
  /** What the installation of dependencies says; undefined if it is off. */
  readonly admission?: Admission | undefined;
  readonly conditions: readonly Condition[];
  readonly clock: Clock;
}

/** The bundle that an extension is to have, or why there is none. */
export type Choice = PendingChoice | ResolvedChoice | FailedChoice;

/** A catalog has not been looked at yet: what follows from its absence may be wrong. */
export interface PendingChoice {
  readonly kind: 'pending';
  readonly message: string;
}

export interface ResolvedChoice {
  readonly kind: 'resolved';
  readonly packageName: string;
  readonly bundle: Bundle;
  readonly catalog: CatalogReference;
  readonly newest: NewestBundle;
  readonly dependencies: readonly Dependency[];
  /** All of the package in that catalog. */
  readonly deprecations: readonly Deprecation[];
}

export interface FailedChoice {
  readonly kind: 'failed';
  readonly reason: FailedPackage['reason'];
  /** Upstream's text. */
  readonly message: string;
  /** What happened and what would help, for people. */
  readonly advice: string;
  readonly newest: NewestBundle | undefined;
  /** All of the package in the catalogs. */
  readonly deprecations: readonly Deprecation[];
}

export interface ChoiceRequest {
  readonly extension: Extension;
  readonly installation: Installation;
}

/** Chooses bundles for extensions. */
export interface Chooser {
  /** @throws the reason of the signal */
  choose(request: ChoiceRequest, signal: AbortSignal): Promise<Choice>;
  /** Milliseconds until the choice is to be made again although nothing changes. */
  retryAfter(id: string): number | undefined;
  /** The extension is gone. */
  forget(id: string): void;
}

export type ConditionUpdate = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;
