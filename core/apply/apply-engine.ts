import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy, PrunePolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type {
  Applier,
  ApplyRequest,
  ApplyResult,
  Forecast,
  HealthProblem,
  HookProgress,
  HookRequest,
  ObjectNews,
  RemoveRequest,
  RemoveResult,
} from '../contracts/applier.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Logger } from '../contracts/logger.ts';
import type { ObjectJudge } from '../contracts/object-judge.ts';
import type { Clock } from '../platform/clock.ts';
import {
  type Discovery,
  isKindNotFound,
  type KubeClient,
  type NamespacedKinds,
} from '../platform/kube/index.ts';
import type { ApplyMetrics } from '../platform/observe/index.ts';
import { DriftDetector } from './drift/drift.ts';
import { HealthRules } from './drift/health-rules.ts';
import { Forecaster } from './forecast/forecaster.ts';
import { awaitedController, PodReasons } from './health-report.ts';
import { FormerReleases } from './helm-migration/former-releases.ts';
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
import { Pruner } from './prune/pruner.ts';
import { RemovalWatch } from './prune/removal-watch.ts';
import { Remover } from './prune/remover.ts';
import { RollOut } from './roll-out.ts';
import { SetWriter } from './set-writer.ts';
import type { AppliedRecord } from './state/applied-record.ts';
import { OwnerStates } from './state/owner-state.ts';
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
  /** Where namespaced objects without a namespace go. */
  readonly systemNamespace: string;
  /** Whether they are refused where their deployment names no namespace for them. */
  readonly requireInstallNamespace?: boolean | undefined;
  /** For each field that a deployment's spec.prune leaves out; nothing waits where absent. */
  readonly pruneDefaults?: PrunePolicy | undefined;
  /** Of deployments without a spec.deletionPolicy; Delete where absent. */
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  /** Ends all watches; the life of the process. */
  readonly signal: AbortSignal;
}

/** Applies sets of objects with server-side apply, and watches over them. */
export class ApplyEngine implements Applier {
  readonly #listeners: ((owner: string, news: ObjectNews) => void)[] = [];
  readonly #options: ApplyEngineOptions;
  readonly #owners: OwnerStates;
  readonly #inventory = new Inventory();
  readonly #drift: DriftDetector;
  readonly #preflight: Preflight;
  readonly #podReasons: PodReasons;
  readonly #rollOut: RollOut;
  readonly #forecaster: Forecaster;
  readonly #remover: Remover;
  readonly #hooks: HookRunner;

  constructor(options: ApplyEngineOptions) {
    const { client, discovery, clock } = options;
    const [inventory, owners] = [this.#inventory, new OwnerStates(clock)];
    const notify = (owner: string, news: ObjectNews = 'change'): void => {
      for (const listener of this.#listeners) listener(owner, news);
    };
    const known = { ...options, inventory, owners, notify };
    const rules = new HealthRules({ ...known, onJudged: (id) => drift.judged(id) });
    const drift = new DriftDetector({ ...known, rules });
    const documents = new OpenAPIDocuments(client);
    const watches = new KindWatches(known);
    const parents = new ApplySetParents(known);
    const releases = new FormerReleases(options);
    const earlierKinds = new EarlierKinds({ ...known, watches, parents, releases });
    const transfers = new Transfers(known);
    const namespaces = new SharedNamespaces(known);
    const ownership = new OwnershipCheck(known);
    const deletions = new Deletions(options);
    const apply = new ServerSideApply({ ...options, documents });
    const coOwnership = new CoOwnership(options);
    const writer = new Writer({ ...known, apply, drift, coOwnership });
    const subjects = { ...known, drift, rules, watches, parents, earlierKinds, transfers };
    const pruner = new Pruner({ ...subjects, deletions });
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
    this.#owners = owners;
    this.#drift = drift;
    this.#preflight = preflight;
    this.#podReasons = new PodReasons({ ...known, drift });
    this.#rollOut = new RollOut(phases);
    this.#forecaster = new Forecaster(phases);
    this.#remover = new Remover({ ...phases, deletions });
    this.#hooks = new HookRunner({ ...subjects, apply, deletions });
  }

  async apply(request: ApplyRequest): Promise<ApplyResult> {
    try {
      return await this.#rollOut.apply(request);
    } catch (error) {
      // Somebody may have made a CRD anew, with another scope: nothing else tells.
      if (error instanceof Error && isKindNotFound(error.cause)) {
        this.#options.discovery.invalidate();
      }
      // It may be for lack of a permission that the owner's account had.
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

  async removeHook(request: HookRequest): Promise<void> {
    await this.#hooks.remove(request);
  }

  health(owner: BundleDeployment): readonly HealthProblem[] {
    const { records = [] } = this.#owners.find(owner.metadata.name ?? '') ?? {};
    const problems = records.flatMap((record) => {
      const message = this.#drift.health(record);
      return message === undefined ? [] : [this.#problemOf(record, message)];
    });
    return oneForUnjudged(problems);
  }

  #problemOf({ resource, key, found, missingVerdict }: AppliedRecord, message: string): Problem {
    const isUnjudged = missingVerdict !== undefined;
    if (found === true && missingVerdict === 'pending') {
      return { problem: { message, unknown: true }, isUnjudged };
    }
    const awaited = awaitedController(this.#inventory.get(resource, key)?.object);
    if (awaited === undefined) return { problem: { message }, isUnjudged };
    return { problem: { message: `${message} (${awaited})` }, isUnjudged: false };
  }

  async explainedHealth(
    owner: BundleDeployment,
    signal: AbortSignal,
  ): Promise<readonly HealthProblem[]> {
    const reasons = await this.#podReasons.of(owner, signal);
    return this.health(owner).map((problem) => {
      const reason = reasons.get(problem.message);
      return reason === undefined ? problem : { message: `${problem.message} (${reason})` };
    });
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

interface Problem {
  readonly problem: HealthProblem;
  /** The owner's rules are to judge the object, and its message says only that they have not. */
  readonly isUnjudged: boolean;
}

/** The problems, but one alone of all objects that the owner's rules have not judged. */
function oneForUnjudged(problems: readonly Problem[]): readonly HealthProblem[] {
  const unjudged = problems.flatMap(({ problem, isUnjudged }) => (isUnjudged ? [problem] : []));
  const [first, ...more] = unjudged;
  if (first === undefined || more.length === 0) return problems.map(({ problem }) => problem);
  const message = `${first.message} (and ${more.length} more objects)`;
  const others = problems.flatMap(({ problem, isUnjudged }) => (isUnjudged ? [] : [problem]));
  return [
    ...others,
    unjudged.every(({ unknown }) => unknown) ? { message, unknown: true } : { message },
  ];
}
