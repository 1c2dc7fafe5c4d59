import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy, PrunePolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type {
  Applier,
  ApplyRequest,
  ApplyResult,
  Forecast,
  HealthProblem,
  ObjectNews,
  RemoveRequest,
  RemoveResult,
} from '../contracts/applier.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type {
  HookProgress,
  HookRequest,
  RunningHook,
  RunningHookRequest,
} from '../contracts/hooks.ts';
import type { Logger } from '../contracts/logger.ts';
import type { ObjectJudge } from '../contracts/object-judge.ts';
import type { Clock } from '../platform/clock.ts';
import {
  type Discovery,
  isKindNotFound,
  type KubeClient,
  type NamespacedKinds,
  type Resource,
} from '../platform/kube/index.ts';
import type { ApplyMetrics } from '../platform/observe/index.ts';
import { DriftDetector } from './drift/drift.ts';
import { HealthRules } from './drift/health-rules.ts';
import { Forecaster } from './forecast/forecaster.ts';
import { HealthReport } from './health-report.ts';
import { HelmReleases } from './helm-migration/helm-releases.ts';
import { HookRunner } from './hooks/hook-runner.ts';
import { HookWatch } from './hooks/hook-watch.ts';
import { Inventory } from './inventory/inventory.ts';
import { ApplySetParents } from './kinds/applyset-parent.ts';
import { Definitions } from './kinds/definitions.ts';
import { EarlierKinds } from './kinds/earlier-kinds.ts';
import { KindLifecycle, KindWatches } from './kinds/kind-watches.ts';
import { OpenAPIDocuments } from './kinds/openapi-documents.ts';
import { OptionalKinds } from './kinds/optional-kinds.ts';
import { CoOwnership } from './ownership/co-ownership.ts';
import { OwnershipCheck } from './ownership/ownership-check.ts';
import { SharedNamespaces } from './ownership/shared-namespaces.ts';
import { Transfers } from './ownership/transfers.ts';
import { Planner } from './plan/planner.ts';
import { Preflight } from './privilege/preflight.ts';
import { Orphaner } from './prune/orphan.ts';
import { Pruner } from './prune/pruner.ts';
import { RemovalWatch } from './prune/removal-watch.ts';
import { Remover } from './prune/remover.ts';
import { RollOut } from './roll-out.ts';
import { SetWriter } from './set-writer.ts';
import { checkRestored } from './state/outdated-owner.ts';
import { OwnerStates } from './state/owner-states.ts';
import { Deletions } from './write/deletions.ts';
import { ServerSideApply } from './write/server-side-apply.ts';
import { Writer } from './write/writer.ts';

interface ApplyEngineOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery & NamespacedKinds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventSink;
  readonly metrics?: Pick<ApplyMetrics, 'requested' | 'repaired'>;
  /** Evaluates the rules of spec.health. */
  readonly judge: ObjectJudge;
  /** Namespace for namespaced objects that name none. */
  readonly systemNamespace: string;
  /** Refuse namespaced objects without a namespace where their deployment names none for them. */
  readonly requireInstallNamespace?: boolean | undefined;
  /** Values of the fields that a deployment's spec.prune omits (default: no confirmation needed). */
  readonly pruneDefaults?: PrunePolicy | undefined;
  /** Deletion policy of deployments without a spec.deletionPolicy (default: Delete). */
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  /** Ends all watches when the process ends. */
  readonly signal: AbortSignal;
}

/** Applies sets of objects with server-side apply, and watches the applied objects. */
export class ApplyEngine implements Applier {
  readonly #listeners: ((owner: string, news: ObjectNews) => void)[] = [];
  readonly #options: ApplyEngineOptions;
  readonly #inventory: Inventory;
  readonly #owners: OwnerStates;
  readonly #preflight: Preflight;
  readonly #healthReport: HealthReport;
  readonly #rollOut: RollOut;
  readonly #forecaster: Forecaster;
  readonly #remover: Remover;
  readonly #hooks: HookRunner;

  constructor(options: ApplyEngineOptions) {
    const { client, discovery, clock } = options;
    const [inventory, owners] = [new Inventory(), new OwnerStates(clock)];
    const notify = (owner: string, news: ObjectNews = 'change'): void => {
      for (const listener of this.#listeners) listener(owner, news);
    };
    const known = { ...options, inventory, owners, notify };
    const rules = new HealthRules({ ...known, onJudged: (id) => drift.judged(id) });
    const drift = new DriftDetector({ ...known, rules });
    const documents = new OpenAPIDocuments(client);
    const watches = new KindWatches(known);
    const parents = new ApplySetParents(known);
    const releases = new HelmReleases(options);
    const earlierKinds = new EarlierKinds({ ...known, watches, parents, releases });
    const transfers = new Transfers(known);
    const namespaces = new SharedNamespaces(known);
    const ownership = new OwnershipCheck(known);
    const deletions = new Deletions(options);
    const apply = new ServerSideApply({ ...options, documents });
    const coOwnership = new CoOwnership(options);
    const writer = new Writer({ ...known, apply, drift, coOwnership });
    const subjects = { ...known, drift, rules, watches, parents, earlierKinds, transfers };
    const onLost = (resource: Resource): void => earlierKinds.distrust([resource]);
    const orphaner = new Orphaner({ ...known, onLost });
    const pruner = new Pruner({ ...subjects, deletions, orphaner });
    const preflight = new Preflight(client, owners);
    const planner = new Planner({ ...subjects, preflight, pruner });
    const definitions = new Definitions(known);
    const setWriter = new SetWriter({ ...subjects, ownership, writer, definitions, deletions });
    const optionalKinds = new OptionalKinds(known);
    const phases = { ...subjects, namespaces, optionalKinds, planner, setWriter, pruner };
    for (const listener of [
      new KindLifecycle({ discovery, documents, watches }),
      new HookWatch(owners, notify),
      new RemovalWatch(owners, notify),
      drift,
      transfers,
    ]) {
      inventory.subscribe(listener);
    }
    this.#options = options;
    this.#inventory = inventory;
    this.#owners = owners;
    this.#preflight = preflight;
    this.#healthReport = new HealthReport({ ...known, drift });
    this.#rollOut = new RollOut(phases);
    this.#forecaster = new Forecaster(phases);
    this.#remover = new Remover({ ...phases, deletions, orphaner });
    this.#hooks = new HookRunner({ ...subjects, apply, deletions });
  }

  async confirm(owner: BundleDeployment, signal: AbortSignal): Promise<void> {
    const inventory = this.#inventory;
    await checkRestored(owner, { ...this.#options, inventory, owners: this.#owners }, signal);
  }

  async apply(request: ApplyRequest): Promise<ApplyResult> {
    try {
      return await this.#rollOut.apply(request);
    } catch (error) {
      // A recreated CRD may have another scope; only this error shows that.
      if (error instanceof Error && isKindNotFound(error.cause)) {
        this.#options.discovery.invalidate();
      }
      // The owner's ServiceAccount may have lost a permission.
      this.#preflight.forget(request.owner.metadata.name ?? '');
      throw error;
    }
  }

  async plan(request: ApplyRequest): Promise<Forecast> {
    return await this.#forecaster.forecast(request);
  }

  async remove(request: RemoveRequest): Promise<RemoveResult> {
    return await this.#remover.remove(request);
  }

  async runHook(request: HookRequest): Promise<HookProgress> {
    return await this.#hooks.run(request);
  }

  async runningHook(request: RunningHookRequest): Promise<RunningHook | undefined> {
    return await this.#hooks.running(request);
  }

  async removeHook(request: HookRequest): Promise<void> {
    await this.#hooks.remove(request);
  }

  async expireHook(request: HookRequest): Promise<void> {
    await this.#hooks.expire(request);
  }

  health(owner: BundleDeployment): readonly HealthProblem[] {
    return this.#healthReport.problems(owner);
  }

  async explainedHealth(
    owner: BundleDeployment,
    signal: AbortSignal,
  ): Promise<readonly HealthProblem[]> {
    return await this.#healthReport.explained(owner, signal);
  }

  knows(ownerName: string): boolean {
    return (this.#owners.find(ownerName)?.records.length ?? 0) > 0;
  }

  forget(ownerName: string): void {
    this.#owners.forget(ownerName);
  }

  onChange(listener: (ownerName: string, news: ObjectNews) => void): void {
    this.#listeners.push(listener);
  }
}
