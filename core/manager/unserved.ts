import type { Condition } from '../../api/meta.ts';
import { meantField } from '../../api/spec-config.ts';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { kstatusCondition, readyReason } from '../../api/v1alpha1/index.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient, Resource } from '../platform/kube/index.ts';
import {
  type ControllerOptions,
  findCondition,
  type ReconcileResult,
  statusPatch,
  withReadiness,
} from '../platform/runtime/index.ts';
import { shortList } from '../short-list.ts';
import type { ControllerParts } from './deployment-controller.ts';
import type { ManagerSettings } from './settings.ts';

/** Milliseconds that a manager has for its first look at an object: it may be starting just now. */
const patience = 30_000;

const shownClasses = 12;

interface UnservedClassesOptions {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** By name: those of the kind that this process serves. */
  readonly classes: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>;
  readonly events: EventSink;
  readonly clock: Clock;
}

interface Served extends Pick<UnservedClassesOptions, 'resource' | 'classes'> {
  readonly cache: { get(key: { readonly name: string }): Bundle | BundleDeployment | undefined };
  readonly reconciler: { reconcile: ControllerOptions['reconcile'] };
}

/** A reconcile that says of objects whose class nobody serves that it is so, where this process is to. */
export function servedOnly(
  { mindsUnserved }: ManagerSettings,
  { kube: { client }, events, clock }: Pick<ControllerParts, 'kube' | 'events' | 'clock'>,
  { cache, reconciler, ...kind }: Served,
): ControllerOptions['reconcile'] {
  if (!mindsUnserved) return (name, context) => reconciler.reconcile(name, context);
  const unserved = new UnservedClasses({ ...kind, client, events, clock });
  return async (name, context) =>
    (await unserved.tell(cache.get({ name }), context.signal)) ??
    (await reconciler.reconcile(name, context));
}

/**
 * Says of objects of one kind whose class nobody serves that it is so: of a misspelt class nothing else
 * would ever be said. Other processes serve classes as well, so only what nobody has looked at counts.
 */
export class UnservedClasses {
  readonly #options: UnservedClassesOptions;

  constructor(options: UnservedClassesOptions) {
    this.#options = options;
  }

  /** Undefined for an object that is this process's to reconcile, is being deleted, or gone. */
  async tell(
    object: Bundle | BundleDeployment | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { classes, clock } = this.#options;
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    if (classes.has(object.spec.provisionerClassName)) return undefined;
    if (isLookedAt(object)) {
      await this.#write(object, withoutOurs(object), signal);
      return {};
    }
    const left = patience - (clock.now() - madeAt(object));
    if (left > 0 && left <= patience) return { requeueAfter: left };
    await this.#write(object, this.#withOurs(object), signal);
    return {};
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
      `no manager has looked at this ${kind}: either class "${name}" is misspelt${question}, or no manager that serves it is running. ` +
      `This one serves ${shortList(served, shownClasses)}`
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

/** A manager that serves the class has written more than what this process says of it. */
function isLookedAt({ status = {} }: Bundle | BundleDeployment): boolean {
  return status.observedGeneration !== undefined;
}

/** Managers of other makers know nothing of Ready, and would leave there what does not hold any more. */
function withoutOurs({ status = {} }: Bundle | BundleDeployment): readonly Condition[] {
  const { conditions = [] } = status;
  return conditions.some(isOurs) ? conditions.filter((each) => !isOurs(each)) : conditions;
}

function isOurs({ reason }: Condition): boolean {
  return reason === readyReason.classNotServed;
}

/** Milliseconds. */
function madeAt({ metadata }: Bundle | BundleDeployment): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
