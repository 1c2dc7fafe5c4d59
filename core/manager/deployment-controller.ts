import {
  type Bundle,
  type BundleDeployment,
  bundleDeploymentResource,
  creatorOf,
} from '../../api/v1alpha1/index.ts';
import { ApplyEngine } from '../apply/index.ts';
import {
  BundleDeploymentReconciler,
  Certificates,
  isRolledOut,
  RenderFacts,
  StoredPlans,
  wantedBundle,
} from '../bundle-deployment/index.ts';
import type { ObjectNews } from '../contracts/applier.ts';
import type { ObjectJudge } from '../contracts/object-judge.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeConnection } from '../platform/kube/index.ts';
import type { Metrics } from '../platform/observe/index.ts';
import {
  type CacheChange,
  type Claim,
  Controller,
  type EventRecorder,
  precedence,
} from '../platform/runtime/index.ts';
import { builtInTypes } from '../sources/index.ts';

import { classesWith, type OwnPlacesByClass, ownWorkers } from './classes.ts';
import { type ContentLoaderParts, createContentLoader } from './content/content-loader.ts';
import type { UnpackingZone } from './content/unpacking-zone.ts';
import {
  dependencyIndex,
  type Kinds,
  ownerIndex,
  ownerOf,
  SelfWriteCache,
  transferTargetIndex,
} from './kinds/kinds.ts';
import { tellingUnserved, UnservedObjects } from './kinds/unserved.ts';
import type { ManagerSettings } from './settings.ts';

export interface ControllerParts {
  readonly kube: KubeConnection;
  readonly judge: ObjectJudge;
  readonly kinds: Kinds;
  /** Undefined when this process only applies. */
  readonly unpacking: UnpackingZone | undefined;
  readonly ownPlaces: OwnPlacesByClass;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Aborted when the process ends. */
  readonly signal: AbortSignal;
}

/** Milliseconds: a rollout changes its message several times, and each would be a status write. */
const detailDelay = 2_000;

/**
 * The controller of BundleDeployments, woken by their cache, their Bundles, their dependencies, and
 * events of applied objects.
 */
export function createDeploymentController(
  options: ManagerSettings,
  parts: ControllerParts,
  bundles: Controller | undefined,
): Controller {
  const { kinds } = parts;
  const cache = new SelfWriteCache<BundleDeployment>(kinds.deployments);
  const onLost = (bundle: string): void => bundles?.enqueue(bundle);
  const deployments = createController(options, parts, { cache, onLost });
  kinds.bundles.onChange(({ object, previous }) => {
    for (const owner of ownerOf(previous ?? object)) deployments.enqueue(owner);
    for (const owner of ownerOf(object)) deployments.enqueue(owner);
  });
  kinds.deployments.onChange((change) => {
    const { name = '' } = change.object.metadata;
    if (!cache.isSelfWrite) deployments.enqueue(name);
    for (const dependency of changedDependencies(change)) deployments.enqueue(dependency);
    for (const dependent of waitingFor(kinds, name)) deployments.enqueue(dependent);
    for (const giver of giversTo(kinds.deployments, change)) deployments.enqueue(giver);
  });
  return deployments;
}

/** Deployments that gained or lost a dependent: their deletion must wait, or continue. */
export function changedDependencies({
  type,
  object,
  previous,
}: CacheChange<BundleDeployment>): readonly string[] {
  const before = new Set(previous?.spec.dependsOn?.map(({ name }) => name));
  const after = new Set(type === 'deleted' ? [] : object.spec.dependsOn?.map(({ name }) => name));
  return [...before.symmetricDifference(after)];
}

/** Dependents of a deployment, which may wait for it: core's own writes are news to them too. */
function waitingFor({ deployments }: Kinds, name: string): readonly string[] {
  return deployments
    .byIndex(dependencyIndex, name)
    .filter((dependent) => !isRolledOut(dependent))
    .map(({ metadata }) => metadata.name ?? '');
}

/** Deployments that transfer objects to a new one: their deletions wait until it exists. */
export function giversTo(
  deployments: Kinds['deployments'],
  { object, previous }: CacheChange<BundleDeployment>,
): readonly string[] {
  const { name = '', uid } = object.metadata;
  if (previous?.metadata.uid === uid) return [];
  const givers = deployments.byIndex(transferTargetIndex, name);
  return givers.map(({ metadata }) => metadata.name ?? '');
}

function createController(
  options: ManagerSettings,
  parts: ControllerParts,
  { cache, onLost }: { cache: SelfWriteCache<BundleDeployment>; onLost: (bundle: string) => void },
): Controller {
  const { kube, judge, kinds, unpacking, ownPlaces, events, metrics, clock, signal } = parts;
  const { client, discovery } = kube;
  const { logger, limits, workers, reportHealth, systemNamespace } = options;
  const shared = { client, events, clock, logger, metrics: metrics.applying };
  const bundleClasses = classesWith(options.provisioners, 'bundle');
  const { pruneDefaults, defaultDeletionPolicy, requireInstallNamespace, mindsUnserved } = options;
  const defaults = { pruneDefaults, defaultDeletionPolicy, requireInstallNamespace };
  const engine = { ...shared, ...defaults, discovery, judge, systemNamespace, signal };
  const applier = new ApplyEngine(engine);
  const facts = new RenderFacts({ client, discovery, systemNamespace, clock, logger, signal });
  const issuing = { client, discovery, clock, events, systemNamespace };
  const certificates = new Certificates({ ...issuing, ...options.certificates });
  metrics.certificates.watchAll(() => certificates.served());
  const provisioners = classesWith(options.provisioners, 'deployment');
  const kind = { client, resource: bundleDeploymentResource, events, clock };
  const unserved = mindsUnserved
    ? new UnservedObjects({ ...kind, classes: provisioners })
    : undefined;
  const reconciler = new BundleDeploymentReconciler({
    ...shared,
    deployments: cachedDeployments(cache, kinds),
    bundles: ownedBundles(kinds, unpacking),
    provisioners,
    bundleClasses,
    sources: new Map([...builtInTypes, ...options.sources].map((each) => [each.type, each])),
    content: createContentLoader({ ...storedBy(unpacking, bundleClasses), onLost }, options),
    applier,
    facts,
    certificates,
    storedPlans: new StoredPlans({ client, systemNamespace }),
    systemNamespace,
    limits,
    reportHealth,
    defaultDeletionPolicy,
    unserved,
  });
  kinds.deployments.onChange((change) => noteDeletion(reconciler, change));
  const controller = new Controller({
    name: 'bundledeployment',
    kind: 'BundleDeployment',
    workers,
    ownWorkers: ownWorkers({ deployments: kinds.deployments, ownPlaces, bundleClasses }),
    claimOf: (name) => claimOfDeployment(name, kinds),
    reconcile: tellingUnserved(unserved, cache, reconciler),
    clock,
    logger,
    metrics,
  });
  applier.onChange((owner, news) => wake(controller, owner, news));
  facts.onChange((name) => controller.enqueue(name));
  return controller;
}

function cachedDeployments(cache: SelfWriteCache<BundleDeployment>, { deployments }: Kinds) {
  return {
    get: (key: { readonly name: string }) => cache.get(key),
    dependentsOf: (name: string) => deployments.byIndex(dependencyIndex, name),
    upsertIfNewer: (deployment: BundleDeployment) => cache.upsertIfNewer(deployment),
  };
}

/** A list that lacks a deployment does not show in which state it was deleted. */
function noteDeletion(
  reconciler: BundleDeploymentReconciler,
  { type, object, previous }: CacheChange<BundleDeployment>,
): void {
  if (type === 'deleted' && object !== previous) reconciler.noteDeleted(object);
}

function ownedBundles({ bundles }: Kinds, unpacking: UnpackingZone | undefined) {
  return {
    ownedBy: (name: string) => bundles.byIndex(ownerIndex, name),
    kept: (name: string) => unpacking?.kept.get(name),
    upsertIfNewer: (bundle: Bundle) => bundles.upsertIfNewer(bundle),
  };
}

/** A process that does not unpack reads all content from a content server. */
function storedBy(
  unpacking: UnpackingZone | undefined,
  bundleClasses: ReadonlyMap<string, Provisioner>,
): Omit<ContentLoaderParts, 'onLost'> {
  if (unpacking === undefined) return { stores: [], ownClasses: new Map() };
  return { stores: [unpacking.store, unpacking.kept], ownClasses: bundleClasses };
}

interface Known<T> {
  get(key: { readonly name: string }): T | undefined;
}

/**
 * Creator and precedence of a deployment. Deployments further along go first, so that in a burst of
 * first installs one after the other becomes healthy.
 */
export function claimOfDeployment(
  name: string,
  {
    deployments,
    bundles,
  }: { readonly deployments: Known<BundleDeployment>; readonly bundles: Known<Bundle> },
): Claim {
  const deployment = deployments.get({ name });
  // A deleted deployment must only be forgotten.
  if (deployment === undefined)
    return { creator: `deployment ${name}`, precedence: precedence.urgent };
  const creator = creatorOf(deployment);
  const { metadata, status } = deployment;
  if (metadata.deletionTimestamp !== undefined) return { creator, precedence: precedence.urgent };
  const isInstalled = isRolledOut(deployment) && status?.observedGeneration === metadata.generation;
  if (isInstalled) return { creator, precedence: precedence.urgent };
  const bundle = bundles.get({ name: wantedBundle(deployment) });
  const isUnpacked = bundle?.status?.phase === 'Unpacked';
  return { creator, precedence: isUnpacked ? precedence.ready : precedence.first };
}

function wake(controller: Controller, owner: string, news: ObjectNews): void {
  if (news === 'change') controller.enqueue(owner, precedence.urgent);
  else controller.enqueueAfter(owner, detailDelay);
}
