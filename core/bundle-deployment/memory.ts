import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { PlanStatus } from '../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { renderingOf } from './plan/approval.ts';
import type { Recipe } from './rendering/rendered-objects.ts';

interface AppliedEntry {
  readonly recipe: Recipe;
  /** The generation of the deployment that has begun to replace it. */
  readonly replacedBy?: number;
}

/**
 * What the objects of each deployment were made of that were applied last, all of them: where
 * nothing can be made of what is asked for since, of that it can. Known to this process alone, and
 * without the objects, which are many.
 */
export class LastApplied {
  /** By deployment name. */
  readonly #entries = new Map<string, AppliedEntry>();

  /** To be called before anything of what was made is applied. */
  begin({ metadata }: BundleDeployment, made: Recipe): void {
    const { name = '', generation = 0 } = metadata;
    const entry = this.#entries.get(name);
    if (entry === undefined || isSame(entry.recipe, made)) return;
    this.#entries.set(name, { ...entry, replacedBy: generation });
  }

  /** To be called when all of it is applied. */
  complete({ metadata }: BundleDeployment, made: Recipe): void {
    this.#entries.set(metadata.name ?? '', { recipe: made });
  }

  /**
   * Undefined where that was another Bundle, and where something else has begun to replace it that
   * is still asked for: to go back then would only do harm.
   */
  get({ metadata }: BundleDeployment, bundle: Bundle): Recipe | undefined {
    const { name = '', uid, generation = 0 } = metadata;
    const { recipe, replacedBy } = this.#entries.get(name) ?? {};
    if (recipe?.deployment.metadata.uid !== uid || replacedBy === generation) return undefined;
    return recipe?.bundle.metadata.uid === bundle.metadata.uid ? recipe : undefined;
  }

  forget(deploymentName: string): void {
    this.#entries.delete(deploymentName);
  }
}

/** A spec has more than what objects are made of. */
function isSame(a: Recipe, b: Recipe): boolean {
  if (a === b) return true;
  return (
    a.bundle.metadata.uid === b.bundle.metadata.uid &&
    a.factsVersion !== undefined &&
    a.factsVersion === b.factsVersion &&
    renderingOf(a.deployment.spec) === renderingOf(b.deployment.spec)
  );
}

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
  /** Milliseconds until one that would fail is made again. */
  readonly retryAfter?: number;
  /** The digest of another plan that was asked for, and compared with this one. */
  refused?: string | undefined;
}

/** Whoever is at work on what stands in the way waits for little; one that nobody mends costs little. */
const retry = { least: 2_000, most: 30_000 } as const;

/** The plans that were made last: to make one costs two requests for each object that changes. */
export class PlanMemory {
  readonly #plans = new Map<string, { readonly key: string; readonly known: KnownPlan }>();
  /** Milliseconds: since when none can be made that would succeed. */
  readonly #failing = new Map<string, { readonly key: string; readonly since: number }>();

  /** The plan of this version of the deployment and this Bundle, if it is remembered. */
  get(deployment: BundleDeployment, bundle: Bundle): KnownPlan | undefined {
    const entry = this.#plans.get(deployment.metadata.name ?? '');
    return entry?.key === planKeyOf(deployment, bundle) ? entry.known : undefined;
  }

  set(
    { deployment, bundle }: { readonly deployment: BundleDeployment; readonly bundle: Bundle },
    known: KnownPlan,
  ): void {
    const { name = '' } = deployment.metadata;
    this.#plans.set(name, { key: planKeyOf(deployment, bundle), known });
    if (known.plan.problems === undefined) this.#failing.delete(name);
  }

  /**
   * Milliseconds until a plan that could not be made, or would fail, is made again: half of the time
   * for which that is so.
   */
  retryAfter(deployment: BundleDeployment, bundle: Bundle, now: number): number {
    const { name = '' } = deployment.metadata;
    const key = planKeyOf(deployment, bundle);
    const known = this.#failing.get(name);
    const since = known?.key === key ? known.since : now;
    this.#failing.set(name, { key, since });
    return Math.min(Math.max(retry.least, (now - since) / 2), retry.most);
  }

  /** To be called when something happened to objects of the deployment. */
  outdate(deployment: string): void {
    const entry = this.#plans.get(deployment);
    if (entry !== undefined) entry.known.stale = true;
  }

  forget(deployment: string): void {
    this.#plans.delete(deployment);
    this.#failing.delete(deployment);
  }
}

/** Metadata may say what a deployment may adopt; an approval changes no plan. */
function planKeyOf(deployment: BundleDeployment, bundle: Bundle): string {
  const { uid, generation, labels, annotations = {} } = deployment.metadata;
  const { [annotation.approve]: _, ...others } = annotations;
  return JSON.stringify([uid, generation, labels, others, bundle.metadata.uid]);
}
