import type { DeletionPolicy, PrunePolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type { ObjectNews } from '../contracts/applier.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Logger } from '../contracts/logger.ts';
import type { ObjectJudge } from '../contracts/object-judge.ts';
import type { Clock } from '../platform/clock.ts';
import type { Discovery, KubeClient, NamespacedKinds } from '../platform/kube/index.ts';
import type { ApplyMetrics } from '../platform/observe/index.ts';
import { AwaitedTakers } from './adoption/awaited-takers.ts';
import { FormerReleases } from './adoption/former-releases.ts';
import { GivenObjects } from './adoption/given-objects.ts';
import { DriftDetector } from './drift/drift.ts';
import { FinishedObjects } from './drift/finished-objects.ts';
import { RepairBackoff } from './drift/repair-backoff.ts';
import { HealthRules } from './health/rules/health-rules.ts';
import { HookRunner } from './hooks/hook-runner.ts';
import { HookWatch } from './hooks/hook-watch.ts';
import { AppliedRecords } from './inventory/applied-records.ts';
import { ApplySetParents } from './inventory/applyset-parent.ts';
import { Inventory } from './inventory/inventory.ts';
import { RestoredOwners } from './inventory/restored-owners.ts';
import { Definitions } from './kinds/definitions.ts';
import { EarlierKinds } from './kinds/earlier-kinds.ts';
import { KindLifecycle } from './kinds/kind-lifecycle.ts';
import { KindWatches } from './kinds/kind-watches.ts';
import { OptionalKinds } from './kinds/optional-kinds.ts';
import { Claims } from './ownership/claims.ts';
import { CoOwnership } from './ownership/co-ownership.ts';
import { SharedNamespaces } from './ownership/shared-namespaces.ts';
import { OwnershipCheck } from './plan/ownership-check.ts';
import { Preflight } from './privilege/preflight.ts';
import { ConfirmedPrunes } from './prune/prune-confirmed.ts';
import { RemovalWatch } from './removal/removal-watch.ts';
import { OpenAPIDocuments } from './schema/openapi-documents.ts';
import { Deletions } from './writes/deletions.ts';
import { ServerSideApply } from './writes/server-side-apply.ts';
import { Writer } from './writes/writer.ts';

export interface ApplyEngineOptions {
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

/** What all runs of the engine share: what is known of the cluster, and who acts on it. */
export interface EngineParts {
  readonly options: ApplyEngineOptions;
  readonly inventory: Inventory;
  readonly records: AppliedRecords;
  readonly claims: Claims;
  /** Owners whose last install met objects of somebody else's. */
  readonly occupied: Set<string>;
  readonly backoff: RepairBackoff;
  readonly rules: HealthRules;
  readonly finished: FinishedObjects;
  readonly watches: KindWatches;
  readonly parents: ApplySetParents;
  readonly restored: RestoredOwners;
  readonly earlierKinds: EarlierKinds;
  readonly optionalKinds: OptionalKinds;
  readonly definitions: Definitions;
  readonly preflight: Preflight;
  readonly ownership: OwnershipCheck;
  readonly drift: DriftDetector;
  readonly given: GivenObjects;
  readonly sharedNamespaces: SharedNamespaces;
  readonly takers: AwaitedTakers;
  /** Wakes an owner whose objects need a look. */
  readonly notify: (owner: string) => void;
  readonly removals: RemovalWatch;
  readonly confirmed: ConfirmedPrunes;
  /** Objects with a deployment's labels that are not its own, of which it was told. */
  readonly strangers: Set<string>;
  readonly writer: Writer;
  readonly deletions: Deletions;
  readonly hookWatch: HookWatch;
  readonly hooks: HookRunner;
}

/** Builds the parts; `notify` is called with the name of an owner whose objects need a look. */
export function engineParts(
  options: ApplyEngineOptions,
  notify: (owner: string, news?: ObjectNews) => void,
): EngineParts {
  const { client, discovery, clock } = options;
  const inventory = new Inventory();
  const records = new AppliedRecords();
  const claims = new Claims();
  const backoff = new RepairBackoff(clock);
  const rules = new HealthRules({ ...options, onJudged: (id) => drift.judged(id) });
  const finished = new FinishedObjects();
  const documents = new OpenAPIDocuments(client);
  const watches = new KindWatches({ ...options, inventory });
  const known = { ...options, inventory, records, backoff };
  const drift = new DriftDetector({ ...known, rules, finished, notify });
  const given = new GivenObjects({ inventory, notify, next: drift });
  const removals = new RemovalWatch({ notify, next: given });
  const hookWatch = new HookWatch({ notify, next: removals });
  inventory.listen(new KindLifecycle({ discovery, documents, watches, next: hookWatch }));
  const coOwnership = new CoOwnership(options);
  const parents = new ApplySetParents(client, options.systemNamespace);
  const releases = new FormerReleases(options);
  const apply = new ServerSideApply({ ...options, documents });
  const deletions = new Deletions(options);
  return {
    options,
    inventory,
    records,
    claims,
    occupied: new Set(),
    backoff,
    rules,
    finished,
    watches,
    parents,
    restored: new RestoredOwners(client, inventory),
    earlierKinds: new EarlierKinds({ ...options, watches, parents, releases, notify }),
    optionalKinds: new OptionalKinds({ ...options, notify }),
    definitions: new Definitions({ ...options, inventory }),
    preflight: new Preflight(client),
    ownership: new OwnershipCheck({ ...options, claims }),
    drift,
    given,
    sharedNamespaces: new SharedNamespaces(),
    takers: new AwaitedTakers({ ...options, notify }),
    notify,
    removals,
    confirmed: new ConfirmedPrunes(),
    strangers: new Set(),
    writer: new Writer({ ...known, apply, drift, coOwnership }),
    deletions,
    hookWatch,
    hooks: new HookRunner({ ...options, apply, inventory, watches, hookWatch, deletions }),
  };
}
