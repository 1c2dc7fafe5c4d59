import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { Clock } from '../clock.ts';
import type { Applier, ApplyRequest, ApplyResult, HealthProblem } from '../contracts/applier.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Discovery } from '../kube/discovery.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import type { Resource } from '../kube/resource.ts';
import type { ApplyMetrics } from '../observe/apply-metrics.ts';
import { FormerReleases } from './adoption/former-releases.ts';
import { AppliedRecords } from './applied-records.ts';
import { ApplySetParents } from './applyset-parent.ts';
import { Claims } from './claims.ts';
import { Definitions } from './definitions.ts';
import { type DesiredSet, desiredSet } from './desired-set.ts';
import { DriftDetector } from './drift.ts';
import { type ApplyFailure, failuresError, type Operation } from './failures.ts';
import { Inventory } from './inventory.ts';
import { KindLifecycle } from './kind-lifecycle.ts';
import { KindWatches } from './kind-watches.ts';
import { OpenAPIDocuments } from './openapi-documents.ts';
import { isDefinition } from './order.ts';
import { isLeftByRukpak } from './ownership.ts';
import { OwnershipCheck } from './ownership-check.ts';
import { type PlannedObject, planSet } from './plan.ts';
import { prune, superfluous } from './prune.ts';
import { RepairBackoff } from './repair-backoff.ts';
import { ServerSideApply } from './server-side-apply.ts';
import { runStages } from './stages.ts';
import { Writer } from './writer.ts';

export interface ApplyEngineOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventSink;
  readonly metrics?: Pick<ApplyMetrics, 'requested' | 'repaired'>;
  /** Where namespaced objects without a namespace go. */
  readonly systemNamespace: string;
  /** Ends all watches; the life of the process. */
  readonly signal: AbortSignal;
}

/** Applies sets of objects with server-side apply, and watches over them. */
export class ApplyEngine implements Applier {
  readonly #options: ApplyEngineOptions;
  readonly #inventory = new Inventory();
  readonly #records = new AppliedRecords();
  readonly #claims = new Claims();
  readonly #listeners: ((owner: string) => void)[] = [];
  readonly #backoff: RepairBackoff;
  readonly #watches: KindWatches;
  readonly #parents: ApplySetParents;
  readonly #releases: FormerReleases;
  readonly #definitions: Definitions;
  readonly #drift: DriftDetector;
  readonly #ownership: OwnershipCheck;
  readonly #writer: Writer;

  constructor(options: ApplyEngineOptions) {
    const { client, discovery, clock } = options;
    const [inventory, records, claims] = [this.#inventory, this.#records, this.#claims];
    const documents = new OpenAPIDocuments(client);
    this.#options = options;
    this.#backoff = new RepairBackoff(clock);
    this.#watches = new KindWatches({ ...options, inventory });
    this.#parents = new ApplySetParents(client);
    this.#releases = new FormerReleases(options);
    this.#definitions = new Definitions({ ...options, inventory });
    this.#ownership = new OwnershipCheck({ ...options, claims });
    const [backoff, watches] = [this.#backoff, this.#watches];
    const notify = (owner: string): void => {
      for (const listener of this.#listeners) listener(owner);
    };
    this.#drift = new DriftDetector({ ...options, inventory, records, backoff, notify });
    inventory.listen(new KindLifecycle({ discovery, documents, watches, next: this.#drift }));
    const apply = new ServerSideApply({ ...options, documents });
    this.#writer = new Writer({
      ...options,
      apply,
      inventory,
      records,
      backoff,
      drift: this.#drift,
    });
  }

  async apply(request: ApplyRequest): Promise<ApplyResult> {
    const { owner, signal } = request;
    const operation = isInstalled(owner) ? 'upgrade' : 'install';
    const set = await desiredSet({ ...this.#options, ...request, operation });
    const earlier = await this.#earlierKinds(owner, signal);
    await this.#watchKinds(set, earlier, signal);
    const plan = this.#plan(owner, set);
    let changes = 0;
    if (plan.length > 0) {
      changes += await this.#applyPlan({ request, operation, set, plan, earlier });
    }
    changes += await this.#prune(request, set);
    this.#records.keepOnly(nameOf(owner), [...set.ids]);
    this.#claims.keepOnly(set.ids, nameOf(owner));
    await this.#parents.write(owner, set.resources, signal);
    return { changes, complete: true };
  }

  health(owner: BundleDeployment): readonly HealthProblem[] {
    return this.#records
      .of(nameOf(owner))
      .map((record) => this.#drift.health(record))
      .filter((message) => message !== undefined)
      .map((message) => ({ message }));
  }

  forget(ownerName: string): void {
    for (const { id } of this.#records.of(ownerName)) this.#drift.forget(id);
    this.#records.forget(ownerName);
    this.#claims.releaseAll(ownerName);
    this.#parents.forget(ownerName);
  }

  onChange(listener: (ownerName: string) => void): void {
    this.#listeners.push(listener);
  }

  /** The kinds that an earlier set of this owner may have left objects of: ours, or RukPak's. */
  async #earlierKinds(owner: BundleDeployment, signal: AbortSignal): Promise<readonly GroupKind[]> {
    if (this.#parents.isParent(owner)) return this.#parents.kinds(owner);
    return await this.#releases.kinds(owner, signal);
  }

  async #watchKinds(
    set: DesiredSet,
    earlierKinds: readonly GroupKind[],
    signal: AbortSignal,
  ): Promise<void> {
    const kinds = set.objects.filter(set.isServed).map(({ resource }) => resource);
    const earlier: Resource[] = [];
    for (const { group, kind } of earlierKinds) {
      const resource =
        this.#watches.watched({ group, kind }) ??
        (await this.#options.discovery.resourceForGroupKind(group, kind, signal));
      // Of a kind that nobody serves nothing can be left.
      if (resource !== undefined) earlier.push(resource);
    }
    await this.#watches.ensure([...kinds, ...earlier], signal);
  }

  #plan(owner: BundleDeployment, set: DesiredSet): readonly PlannedObject[] {
    const { pending, found } = planSet(set.objects, {
      owner: nameOf(owner),
      records: this.#records,
      inventory: this.#inventory,
      backoff: this.#backoff,
      hasDrifted: (record) => this.#drift.hasDrifted(record),
      isLeft: (live) => isLeftByRukpak(live, nameOf(owner), this.#options.systemNamespace),
    });
    for (const record of found) {
      this.#records.set(record);
      this.#drift.health(record);
    }
    this.#claims.take(
      found.map(({ id }) => id),
      nameOf(owner),
    );
    return pending;
  }

  async #applyPlan({ request, operation, set, plan, earlier }: PlanRun): Promise<number> {
    const { owner, signal } = request;
    const pending = await this.#ownership.run({
      owner,
      operation,
      desired: set.objects,
      pending: plan,
      presentAs: set.presentAs,
      signal,
    });
    this.#records.extend(nameOf(owner), [...set.ids]);
    await this.#parents.write(owner, [...set.resources, ...earlier], signal);
    let changes = 0;
    const kindOfWork = pending.every(({ repair }) => repair) ? 'reconcile' : operation;
    const failures = await runStages(pending, {
      operation: kindOfWork,
      apply: async (object) => {
        if (await this.#writer.write(owner, object, signal)) changes += 1;
      },
      foundationLaid: async () => await this.#foundationLaid(set, pending, signal),
    });
    throwAny(failures, kindOfWork, signal);
    return changes;
  }

  async #foundationLaid(
    set: DesiredSet,
    pending: readonly PlannedObject[],
    signal: AbortSignal,
  ): Promise<readonly ApplyFailure[]> {
    const applied = pending.map(({ desired }) => desired);
    const definitions = applied.filter(({ resource }) => isDefinition(resource));
    const failures = await this.#definitions.established(definitions, signal);
    if (failures.length > 0) return failures;
    const fresh = set.objects.filter((object) => !set.isServed(object));
    const kinds = [...new Set(fresh.map(({ resource }) => resource))];
    if (definitions.length === 0 && kinds.length === 0) return [];
    await this.#definitions.served(kinds, signal);
    await this.#watches.ensure(kinds, signal);
    return [];
  }

  async #prune({ owner, signal }: ApplyRequest, set: DesiredSet): Promise<number> {
    const entries = superfluous(this.#inventory, nameOf(owner), set.ids);
    if (entries.length === 0) return 0;
    throwAny(await prune(entries, this.#options.client, signal), 'upgrade', signal);
    for (const { id } of entries) this.#drift.forget(id);
    return entries.length;
  }
}

interface PlanRun {
  readonly request: ApplyRequest;
  readonly operation: 'install' | 'upgrade';
  readonly set: DesiredSet;
  readonly plan: readonly PlannedObject[];
  readonly earlier: readonly GroupKind[];
}

type GroupKind = Pick<Resource, 'group' | 'kind'>;

function throwAny(
  failures: readonly ApplyFailure[],
  operation: Operation,
  signal: AbortSignal,
): void {
  signal.throwIfAborted();
  if (failures.length > 0) throw failuresError(failures, operation);
}

function isInstalled({ status }: BundleDeployment): boolean {
  return (status?.activeBundle ?? '') !== '';
}

function nameOf({ metadata }: BundleDeployment): string {
  return metadata.name ?? '';
}
