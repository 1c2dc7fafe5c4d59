import type { Condition, KubernetesObject } from '../../../api/meta.ts';
import { meantField } from '../../../api/spec-config.ts';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { kstatusCondition, readyReason } from '../../../api/v1alpha1/index.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { UnservedDeletions } from '../../contracts/unserved-deletions.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KubeClient, Resource } from '../../platform/kube/index.ts';
import {
  type ControllerOptions,
  findCondition,
  type ReconcileResult,
  statusPatch,
  withReadiness,
} from '../../platform/runtime/index.ts';
import { shortList } from '../../short-list.ts';

/**
 * Milliseconds until a manager of the class must have reconciled an object or its deletion: it may
 * be starting.
 */
const patience = 30_000;

/**
 * Milliseconds until a manager of the class must have reported a change of an object that a manager
 * has reconciled before: a class may be at work for long.
 */
const patienceWithChange = 60_000;

const shownClasses = 12;

export interface UnservedObjectsOptions {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** By name; classes of the kind that this process serves. */
  readonly classes: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>;
  readonly events: EventSink;
  readonly clock: Clock;
}

/**
 * The objects of one kind whose class no manager serves. This process reports each of them, because
 * nothing else would report a misspelt class, and decides when to handle their deletions. Other
 * processes serve classes as well, so only objects count that no manager has reconciled since their
 * last change.
 */
export class UnservedObjects implements UnservedDeletions {
  readonly #options: UnservedObjectsOptions;
  /** By name of an object that is being deleted. */
  readonly #deletions = new Map<string, { readonly uid: string; readonly since: number }>();
  /** By name of an object whose last change no manager has reported. */
  readonly #changes = new Map<string, { readonly change: string; readonly since: number }>();

  constructor(options: UnservedObjectsOptions) {
    this.#options = options;
  }

  remaining({ metadata: { name = '', uid = '' } }: KubernetesObject): number {
    const now = this.#options.clock.monotonic();
    const known = this.#deletions.get(name);
    const seen = known?.uid === uid ? known : { uid, since: now };
    this.#deletions.set(name, seen);
    return seen.since + patience - now;
  }

  forget(name: string): void {
    this.#deletions.delete(name);
    this.#changes.delete(name);
  }

  /** Undefined for an object that this process reconciles, or that is being deleted or deleted. */
  async tell(
    object: Bundle | BundleDeployment | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { classes } = this.#options;
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    if (classes.has(object.spec.provisionerClassName)) return undefined;
    if (isLookedAt(object)) {
      this.#changes.delete(object.metadata.name ?? '');
      await this.#write(object, withoutOurs(object), signal);
      return {};
    }
    const left = this.#timeLeft(object);
    if (left > 0) return { requeueAfter: left };
    await this.#write(object, this.#withOurs(object), signal);
    return {};
  }

  /** Milliseconds; the time of creation is known, that of a change is when this process saw it. */
  #timeLeft({ metadata, status = {} }: Bundle | BundleDeployment): number {
    const { clock } = this.#options;
    if (status.observedGeneration === undefined) {
      const left = patience - (clock.now() - madeAt({ metadata }));
      return left <= patience ? left : 0;
    }
    const { name = '', uid, generation } = metadata;
    const change = `${uid}/${generation}`;
    const known = this.#changes.get(name);
    const seen = known?.change === change ? known : { change, since: clock.monotonic() };
    this.#changes.set(name, seen);
    return seen.since + patienceWithChange - clock.monotonic();
  }

  #withOurs(object: Bundle | BundleDeployment): readonly Condition[] {
    const { conditions = [] } = object.status ?? {};
    const readiness = {
      status: 'Unknown',
      reason: readyReason.classNotServed,
      message: this.#message(object),
      observedGeneration: object.metadata.generation,
    } as const;
    return withReadiness(conditions, readiness, this.#options.clock);
  }

  #message({ kind, spec: { provisionerClassName: name } }: Bundle | BundleDeployment): string {
    const served = [...this.#options.classes.keys()].toSorted();
    const meant = meantField(name, served);
    const question = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
    return (
      `no manager reconciles this ${kind}: either class "${name}" is misspelt${question}, or no manager that serves it is running. ` +
      `The running core serves ${shortList(served, shownClasses)}`
    );
  }

  async #write(
    object: Bundle | BundleDeployment,
    conditions: readonly Condition[],
    signal: AbortSignal,
  ): Promise<void> {
    const { client, resource, events } = this.#options;
    const patch = statusPatch(object, { ...object.status, conditions }, { ifUnchanged: true });
    if (patch === undefined || conditions === object.status?.conditions) return;
    const target = { resource, key: { name: object.metadata.name ?? '' } };
    const after = await client.patch(target, patch, {
      type: 'json',
      subresource: 'status',
      signal,
    });
    const told = findCondition(conditions, kstatusCondition.ready);
    if (told?.reason !== readyReason.classNotServed) return;
    events.event(after, { type: 'Warning', reason: told.reason, message: told.message });
  }
}

interface Reconciler {
  readonly reconcile: ControllerOptions['reconcile'];
}

interface Cache {
  get(key: { readonly name: string }): Bundle | BundleDeployment | undefined;
}

/** A reconcile that first reports an object whose class no manager serves. */
export function tellingUnserved(
  unserved: UnservedObjects | undefined,
  cache: Cache,
  reconciler: Reconciler,
): ControllerOptions['reconcile'] {
  return async (name, context) =>
    (await unserved?.tell(cache.get({ name }), context.signal)) ??
    (await reconciler.reconcile(name, context));
}

/**
 * A manager that serves the class has written more into the status than this process does, since
 * the last change; while a class is at work, only Ready names that.
 */
function isLookedAt({ metadata: { generation = 0 }, status = {} }: Bundle | BundleDeployment) {
  const { observedGeneration, conditions } = status;
  if (observedGeneration === undefined) return false;
  const ready = findCondition(conditions, kstatusCondition.ready);
  const said = ready === undefined || isOurs(ready) ? undefined : ready.observedGeneration;
  return Math.max(observedGeneration, said ?? 0) >= generation;
}

/** Managers of third parties do not know Ready, and would leave an outdated one. */
function withoutOurs({ status = {} }: Bundle | BundleDeployment): readonly Condition[] {
  const { conditions = [] } = status;
  return conditions.some(isOurs) ? conditions.filter((each) => !isOurs(each)) : conditions;
}

function isOurs({ reason }: Condition): boolean {
  return reason === readyReason.classNotServed;
}

/** Milliseconds since the epoch. */
function madeAt({ metadata }: Pick<KubernetesObject, 'metadata'>): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
