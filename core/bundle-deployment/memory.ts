import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { PlanStatus } from '../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { renderingOf } from './plan/approval.ts';
import type { Recipe, RenderedEntry, TimeoutEntry } from './rendering/rendered-objects.ts';
import type { Installation } from './transitions.ts';

/** All that this process remembers of one deployment. */
export interface DeploymentMemory {
  rendered?: RenderedEntry;
  /** What would take too long to render once more. */
  timeout?: TimeoutEntry;
  lastApplied?: AppliedEntry;
  plan?: { readonly key: string; readonly known: KnownPlan };
  /** Milliseconds: since when no plan can be made that would succeed. */
  failingPlan?: { readonly key: string; readonly since: number };
  /** The last installation, while its health settles. */
  installation?: Installation;
}

/** The memory of each deployment by its name: the one place that forgets. */
export class DeploymentMemories {
  readonly #memories = new Map<string, DeploymentMemory>();

  of(deploymentName = ''): DeploymentMemory {
    const known = this.#memories.get(deploymentName);
    if (known !== undefined) return known;
    const memory: DeploymentMemory = {};
    this.#memories.set(deploymentName, memory);
    return memory;
  }

  /** Undefined where nothing is remembered. */
  find(deploymentName: string): DeploymentMemory | undefined {
    return this.#memories.get(deploymentName);
  }

  all(): Iterable<DeploymentMemory> {
    return this.#memories.values();
  }

  forget(deploymentName: string): void {
    this.#memories.delete(deploymentName);
  }
}

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
  readonly #memories: DeploymentMemories;

  constructor(memories: DeploymentMemories) {
    this.#memories = memories;
  }

  /** To be called before anything of what was made is applied. */
  begin({ metadata: { name, generation = 0 } }: BundleDeployment, made: Recipe): void {
    const memory = this.#memories.of(name);
    const entry = memory.lastApplied;
    if (entry === undefined || isSame(entry.recipe, made)) return;
    memory.lastApplied = { ...entry, replacedBy: generation };
  }

  /** To be called when all of it is applied. */
  complete({ metadata }: BundleDeployment, made: Recipe): void {
    this.#memories.of(metadata.name).lastApplied = { recipe: made };
  }

  /**
   * Undefined where that was another Bundle, and where something else has begun to replace it that
   * is still asked for: to go back then would only do harm.
   */
  get({ metadata }: BundleDeployment, bundle: Bundle): Recipe | undefined {
    const { name, uid, generation = 0 } = metadata;
    const { recipe, replacedBy } = this.#memories.of(name).lastApplied ?? {};
    if (recipe?.deployment.metadata.uid !== uid || replacedBy === generation) return undefined;
    return recipe?.bundle.metadata.uid === bundle.metadata.uid ? recipe : undefined;
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
  readonly #memories: DeploymentMemories;

  constructor(memories: DeploymentMemories) {
    this.#memories = memories;
  }

  /** The plan of this version of the deployment and this Bundle, if it is remembered. */
  get(deployment: BundleDeployment, bundle: Bundle): KnownPlan | undefined {
    const { plan } = this.#memories.of(deployment.metadata.name);
    return plan?.key === planKeyOf(deployment, bundle) ? plan.known : undefined;
  }

  set(
    { deployment, bundle }: { readonly deployment: BundleDeployment; readonly bundle: Bundle },
    known: KnownPlan,
  ): void {
    const memory = this.#memories.of(deployment.metadata.name);
    memory.plan = { key: planKeyOf(deployment, bundle), known };
    if (known.plan.problems === undefined) delete memory.failingPlan;
  }

  /**
   * Milliseconds until a plan that could not be made, or would fail, is made again: half of the time
   * for which that is so.
   */
  retryAfter(deployment: BundleDeployment, bundle: Bundle, now: number): number {
    const memory = this.#memories.of(deployment.metadata.name);
    const key = planKeyOf(deployment, bundle);
    const since = memory.failingPlan?.key === key ? memory.failingPlan.since : now;
    memory.failingPlan = { key, since };
    return Math.min(Math.max(retry.least, (now - since) / 2), retry.most);
  }

  /** To be called when something happened to objects of the deployment. */
  outdate(deploymentName: string): void {
    const plan = this.#memories.find(deploymentName)?.plan;
    if (plan !== undefined) plan.known.stale = true;
  }

  /** To be called when the plan is carried out. */
  close(deploymentName: string): void {
    const memory = this.#memories.of(deploymentName);
    delete memory.plan;
    delete memory.failingPlan;
  }
}

/** Metadata may say what a deployment may adopt; an approval changes no plan. */
function planKeyOf(deployment: BundleDeployment, bundle: Bundle): string {
  const { uid, generation, labels, annotations = {} } = deployment.metadata;
  const { [annotation.approve]: _, ...others } = annotations;
  return JSON.stringify([uid, generation, labels, others, bundle.metadata.uid]);
}
