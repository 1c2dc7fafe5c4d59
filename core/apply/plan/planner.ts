import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { ApplyRequest } from '../../contracts/applier.ts';
import type { Discovery, KubeClient } from '../../platform/kube/index.ts';
import type { DriftDetector } from '../drift/drift.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { EarlierKinds } from '../kinds/earlier-kinds.ts';
import type { KindWatches } from '../kinds/kind-watches.ts';
import type { DesiredObject, PlannedObject } from '../objects/desired.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { isLeftByRukpak } from '../ownership/ownership.ts';
import type { UsedNamespaces } from '../ownership/shared-namespaces.ts';
import type { Transfers } from '../ownership/transfers.ts';
import { clientOf } from '../privilege/permissions.ts';
import type { Preflight } from '../privilege/preflight.ts';
import type { Pruner } from '../prune/pruner.ts';
import { checkStageOrder } from '../stages/stage-order.ts';
import { isCollected } from '../state/applied-record.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { desiredHooks, desiredSet } from './desired-set.ts';
import { type ApplyPlan, planSet, type Run } from './plan.ts';

interface PlannerOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery;
  /** Namespace for namespaced objects that name none. */
  readonly systemNamespace: string;
  /** Refuse namespaced objects without a namespace when their deployment names none for them. */
  readonly requireInstallNamespace?: boolean | undefined;
  readonly owners: OwnerStates;
  readonly inventory: Inventory;
  readonly earlierKinds: EarlierKinds;
  readonly watches: KindWatches;
  readonly drift: DriftDetector;
  readonly transfers: Transfers;
  readonly preflight: Preflight;
  readonly pruner: Pruner;
}

/** Plans which objects an apply must send; applies and forecasts share it. */
export class Planner {
  readonly #options: PlannerOptions;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  async begin(request: ApplyRequest): Promise<Run> {
    const { owner, waitForReady = false, unchanged = false, foundationOnly = false } = request;
    const { standsIn = false, deletionsAsked, changedFacts, askedBefore, begin, signal } = request;
    const { client, owners, earlierKinds } = this.#options;
    const operation = isInstalled(owner) ? 'upgrade' : 'install';
    const wanted = { ...this.#options, ...request, operation } as const;
    const set = await desiredSet(wanted);
    const hooks = await desiredHooks(wanted, set);
    checkStageOrder(set.objects, operation);
    const earlier = await earlierKinds.of(owner, signal);
    const name = owner.metadata.name ?? '';
    return {
      owner,
      name,
      state: owners.of(name),
      client: clientOf(owner, client),
      operation,
      set,
      hooks,
      earlier,
      waitForReady,
      foundationOnly,
      unchanged,
      standsIn,
      ...(deletionsAsked === undefined ? {} : { deletionsAsked }),
      changedFacts,
      askedBefore,
      ...(begin && { begin }),
      origin: request,
      signal,
    };
  }

  /**
   * Fills the inventory with all objects of the run's kinds; returns the kinds that cannot be
   * watched.
   */
  async watchKinds({ name, set, earlier, signal }: Run): Promise<readonly GroupKind[]> {
    const { earlierKinds, watches } = this.#options;
    const kinds = set.objects.filter(set.isServed).map(({ resource }) => resource);
    const { resources, unserved } = await earlierKinds.find(name, earlier, signal);
    await watches.ensure([...kinds, ...resources], signal);
    return unserved;
  }

  /** Objects of the set whose ownership the owner has transferred to other deployments. */
  given({ owner, set }: Run): ReadonlySet<DesiredObject> {
    return this.#options.transfers.given(owner, set.objects);
  }

  /**
   * Decides without requests which objects of the set core must send, except transferred objects
   * and namespaces that the owner only uses. `pause` returns how long the repair of an object must
   * wait.
   */
  plan(
    run: Run,
    others: { readonly given: ReadonlySet<DesiredObject>; readonly used: UsedNamespaces },
    pause: (id: string) => number,
  ): ApplyPlan {
    const { inventory, drift, systemNamespace } = this.#options;
    const own = run.set.objects.filter(
      (object) => !others.given.has(object) && !others.used.has(object),
    );
    return planSet(own, {
      state: run.state,
      inventory,
      pause,
      isFinished: (desired) => isFinished(run, desired),
      hasDrifted: (record) => drift.hasDrifted(record),
      isLeft: (live) => isLeftByRukpak(live, run.owner, systemNamespace),
    });
  }

  /**
   * @throws TerminalError when the owner's account lacks a permission: core then changes nothing.
   */
  async checkPermissions(run: Run, pending: readonly PlannedObject[]): Promise<void> {
    if (run.owner.spec.serviceAccount === undefined) return;
    const { preflight, pruner } = this.#options;
    const superfluous = run.standsIn ? [] : (await pruner.plan(run)).remove;
    const ids = new Set(pending.map(({ desired }) => desired.id));
    const kept = run.unchanged ? [] : run.set.objects.filter(({ id }) => !ids.has(id));
    await preflight.run({ ...run, pending, superfluous, kept });
  }
}

/**
 * Whether an object has ended, and may be absent. An object that Kubernetes deletes by itself and
 * that disappeared while no process watched has probably ended: running it twice may do harm.
 */
function isFinished({ state, origin, unchanged }: Run, desired: DesiredObject): boolean {
  if (state.finished.covers(origin, desired)) return true;
  return unchanged && isCollected(desired) && state.recordOf(desired.id) === undefined;
}

function isInstalled({ status }: BundleDeployment): boolean {
  return (status?.activeBundle ?? '') !== '';
}
