import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { PlanStatus } from '../../api/v1alpha1/deployment-plan.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { renderingOf } from '../apply/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { FailureEntry, Recipe, RenderedEntry } from './rendering/rendered-objects.ts';
import type { BelievedStatus } from './revisions/noted-status.ts';
import type { Installation } from './transitions.ts';

/** All that this process remembers of one deployment. */
export interface DeploymentMemory {
  readonly durations: Durations;
  rendered?: readonly RenderedEntry[];
  /** A rendering that would fail again. */
  failedRendering?: FailureEntry;
  lastApplied?: AppliedEntry;
  plan?: { readonly key: string; readonly known: KnownPlan };
  /** Monotonic milliseconds since when every plan would fail. */
  failingPlan?: { readonly key: string; readonly since: number };
  /** The last installation, until its health settles. */
  installation?: Installation;
  /** Monotonic milliseconds when core last asked whether another process deletes it. */
  askedAt?: number;
  /** Only of a deployment with a noted status. */
  believed?: BelievedStatus;
  /** Digest of the last status of others that got an Event. */
  forged?: string;
}

/** The memory of each deployment by its name; the only place that forgets it. */
export class DeploymentMemories {
  readonly #memories = new Map<string, DeploymentMemory>();

  of(deploymentName = ''): DeploymentMemory {
    const known = this.#memories.get(deploymentName);
    if (known !== undefined) return known;
    const memory: DeploymentMemory = { durations: new Durations() };
    this.#memories.set(deploymentName, memory);
    return memory;
  }

  /** Undefined when nothing is remembered. */
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

/** Something with a time limit. */
interface Lasting {
  readonly id: string;
  /** What it is a part of: the parts follow each other. */
  readonly whole: string;
  /** When it began by the computer's clock, in milliseconds. */
  readonly startedAt: number;
}

interface Followed extends Pick<Lasting, 'id' | 'whole'> {
  /** Monotonic milliseconds at the first look, minus what had passed by then. */
  readonly since: number;
  /** Monotonic milliseconds when this process began it, or first looked at it. */
  readonly seenAt: number;
}

/**
 * How long something has taken. The computer's clock tells only how long what another process began
 * had taken before: a clock that is set ahead must not end what has time left.
 */
export class Durations {
  readonly #followed = new Map<'hook' | 'progress', Followed>();

  /** Call this when something begins, or the first part of it. */
  begin(kind: 'hook' | 'progress', whole: string, clock: Clock): void {
    const now = clock.monotonic();
    this.#followed.set(kind, { id: whole, whole, since: now, seenAt: now });
  }

  /** Milliseconds. */
  of(kind: 'hook' | 'progress', { id, whole, startedAt }: Lasting, clock: Clock): number {
    const known = this.#followed.get(kind);
    const now = clock.monotonic();
    if (known?.id === id) return now - known.since;
    // What came before it in the same whole has just ended.
    const passed = known?.whole === whole ? 0 : Math.max(clock.now() - startedAt, 0) || 0;
    this.#followed.set(kind, { id, whole, since: now - passed, seenAt: now });
    return passed;
  }

  /** Milliseconds for which this process has followed what `of` was last asked about. */
  followed(kind: 'hook' | 'progress', clock: Clock): number {
    const now = clock.monotonic();
    return now - (this.#followed.get(kind)?.seenAt ?? now);
  }
}

interface AppliedEntry {
  readonly recipe: Recipe;
  /** Generation of the deployment whose roll-out began to replace it, and its Bundle's name. */
  readonly replacedBy?: { readonly generation: number; readonly bundle: string | undefined };
}

/**
 * The recipe of each deployment's last completely applied objects: core uses it when it cannot
 * render what the deployment asks for now. Exists in this process only, and without the objects,
 * which are many.
 */
export class LastApplied {
  readonly #memories: DeploymentMemories;

  constructor(memories: DeploymentMemories) {
    this.#memories = memories;
  }

  /** Call this before the first object of the rendering is applied. */
  begin({ metadata: { name, generation = 0 } }: BundleDeployment, made: Recipe): void {
    const memory = this.#memories.of(name);
    const entry = memory.lastApplied;
    if (entry === undefined || isSame(entry.recipe, made)) return;
    const bundle = made.bundle.metadata.name;
    memory.lastApplied = { ...entry, replacedBy: { generation, bundle } };
  }

  /**
   * Whether objects of that Bundle, or of one of its name that was deleted since, have started to
   * replace the last completely applied ones.
   */
  hasBegun({ metadata: { name, uid } }: BundleDeployment, bundle: Bundle): boolean {
    const { recipe, replacedBy } = this.#memories.of(name).lastApplied ?? {};
    if (recipe?.deployment.metadata.uid !== uid) return false;
    return replacedBy !== undefined && replacedBy.bundle === bundle.metadata.name;
  }

  /** Call this when all objects are applied. */
  complete({ metadata }: BundleDeployment, made: Recipe): void {
    this.#memories.of(metadata.name).lastApplied = { recipe: made };
  }

  /**
   * Undefined for another Bundle, and when the present generation has started to replace it: going
   * back would then only do harm.
   */
  get({ metadata }: BundleDeployment, bundle: Bundle): Recipe | undefined {
    const { name, uid, generation = 0 } = metadata;
    const { recipe, replacedBy } = this.#memories.of(name).lastApplied ?? {};
    if (recipe?.deployment.metadata.uid !== uid || replacedBy?.generation === generation)
      return undefined;
    return recipe?.bundle.metadata.uid === bundle.metadata.uid ? recipe : undefined;
  }
}

/** Compares only what objects are rendered from: a spec has other fields too. */
function isSame(a: Recipe, b: Recipe): boolean {
  if (a === b) return true;
  return (
    a.bundle.metadata.uid === b.bundle.metadata.uid &&
    a.factsVersion !== undefined &&
    a.factsVersion === b.factsVersion &&
    renderingOf(a.deployment.spec) === renderingOf(b.deployment.spec)
  );
}

/** A plan, and whether it is up to date. */
export interface KnownPlan {
  readonly plan: PlanStatus;
  /** Digest of everything that the plan depends on. */
  readonly content: string | undefined;
  /** Monotonic milliseconds when it was started, and milliseconds that it took. */
  readonly madeAt: number;
  readonly took: number;
  /** An event since then may have changed it. */
  stale: boolean;
  /** Milliseconds until a plan that would fail is made again. */
  readonly retryAfter?: number;
  /** An approved digest that was compared with this plan and differs. */
  refused?: string | undefined;
}

/**
 * Short while somebody is probably removing the obstacle; long when nobody does, to cost little.
 */
const retry = { least: 2_000, most: 30_000 } as const;

/** The last plan of each deployment: making one costs two requests for each changed object. */
export class PlanMemory {
  readonly #memories: DeploymentMemories;

  constructor(memories: DeploymentMemories) {
    this.#memories = memories;
  }

  /** The remembered plan for this version of the deployment and this Bundle. */
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
   * Milliseconds until a plan that would fail is made again: half of the time since it first
   * failed.
   */
  retryAfter(deployment: BundleDeployment, bundle: Bundle, now: number): number {
    const memory = this.#memories.of(deployment.metadata.name);
    const key = planKeyOf(deployment, bundle);
    const since = memory.failingPlan?.key === key ? memory.failingPlan.since : now;
    memory.failingPlan = { key, since };
    return Math.min(Math.max(retry.least, (now - since) / 2), retry.most);
  }

  /** Call this after an event of the deployment's objects. */
  outdate(deploymentName: string): void {
    const plan = this.#memories.find(deploymentName)?.plan;
    if (plan !== undefined) plan.known.stale = true;
  }

  /** Call this when the plan is carried out. */
  close(deploymentName: string): void {
    const memory = this.#memories.of(deploymentName);
    delete memory.plan;
    delete memory.failingPlan;
  }
}

/**
 * Includes metadata that decides which objects the deployment may adopt; excludes the approval and
 * the note of the status, which change no plan.
 */
function planKeyOf(deployment: BundleDeployment, bundle: Bundle): string {
  const { uid, generation, labels, annotations = {} } = deployment.metadata;
  const { [annotation.approve]: _, [annotation.notedStatus]: __, ...others } = annotations;
  return JSON.stringify([uid, generation, labels, others, bundle.metadata.uid]);
}
