import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { PlanStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';

/** A plan, and what is known of its being up to date. */
export interface KnownPlan {
  readonly plan: PlanStatus;
  /** Digest of all that the plan is of. */
  readonly content: string | undefined;
  /** Milliseconds: when it was begun, and how long that took. */
  readonly madeAt: number;
  readonly took: number;
  /** Something has happened since that may change it. */
  stale: boolean;
  /** The digest of another plan that was asked for, and compared with this one. */
  refused?: string | undefined;
}

/** The plans that were made last: to make one costs two requests for each object that changes. */
export class PlanMemory {
  readonly #plans = new Map<string, { readonly key: string; readonly known: KnownPlan }>();

  /** The plan of this version of the deployment and this Bundle, if it is remembered. */
  get(deployment: BundleDeployment, bundle: Bundle): KnownPlan | undefined {
    const entry = this.#plans.get(deployment.metadata.name ?? '');
    return entry?.key === keyOf(deployment, bundle) ? entry.known : undefined;
  }

  set(
    { deployment, bundle }: { readonly deployment: BundleDeployment; readonly bundle: Bundle },
    known: KnownPlan,
  ): void {
    const { name = '' } = deployment.metadata;
    this.#plans.set(name, { key: keyOf(deployment, bundle), known });
  }

  /** To be called when something happened to objects of the deployment. */
  outdate(deployment: string): void {
    const entry = this.#plans.get(deployment);
    if (entry !== undefined) entry.known.stale = true;
  }

  forget(deployment: string): void {
    this.#plans.delete(deployment);
  }
}

/** Metadata may say what a deployment may adopt; an approval changes no plan. */
function keyOf(deployment: BundleDeployment, bundle: Bundle): string {
  const { uid, generation, labels, annotations = {} } = deployment.metadata;
  const { [annotation.approve]: _, ...others } = annotations;
  return JSON.stringify([uid, generation, labels, others, bundle.metadata.uid]);
}
