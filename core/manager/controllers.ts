import {
  type Bundle,
  type BundleDeployment,
  bundleDeploymentResource,
  bundleResource,
} from '../../api/v1alpha1/index.ts';
import { ApplyEngine } from '../apply/index.ts';
import { BundleReconciler } from '../bundle/index.ts';
import {
  BundleDeploymentReconciler,
  Certificates,
  isBroughtOut,
  RenderFacts,
  StoredPlans,
} from '../bundle-deployment/index.ts';
import type { ObjectNews } from '../contracts/applier.ts';
import type { ObjectJudge } from '../contracts/object-judge.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeConnection } from '../platform/kube/index.ts';
import type { Metrics } from '../platform/observe/index.ts';
import {
  Controller,
  type ControllerOptions,
  type EventRecorder,
  precedence,
} from '../platform/runtime/index.ts';
import { builtInTypes } from '../sources/index.ts';
import { changedDependencies } from './changed-dependencies.ts';
import { claimOfDeployment } from './claim-of-deployment.ts';
import { classesWith } from './class-index.ts';
import { type ContentLoaderParts, createContentLoader } from './content.ts';
import { configMapIndex, dependencyIndex, type Kinds, ownerIndex, ownerOf } from './kinds.ts';
import { ownWorkers } from './own-workers.ts';
import { OwnWrites } from './own-writes.ts';
import type { ManagerSettings } from './settings.ts';
import type { OwnPlacesByClass } from './unpacking.ts';
import type { UnpackingZone } from './unpacking-zone.ts';
import { UnservedClasses, type UnservedClassesOptions } from './unserved-classes.ts';

export interface ControllerParts {
  readonly kube: KubeConnection;
  readonly judge: ObjectJudge;
  readonly kinds: Kinds;
  /** Undefined where this process applies only. */
  readonly unpacking: UnpackingZone | undefined;
  readonly ownPlaces: OwnPlacesByClass;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** The life of the process. */
  readonly signal: AbortSignal;
}

/** Milliseconds: a rollout says several things on its way, and each would be a status to write. */
const detailDelay = 2_000;

/** The controllers of this process, woken by the caches and by what happens to applied objects. */
export function createControllers(
  options: ManagerSettings,
  parts: ControllerParts,
): readonly Controller[] {
  const { unpacking } = parts;
  const bundles = unpacking && wokenBundles(options, parts, unpacking);
  if (options.zone === 'unpacking') return bundles === undefined ? [] : [bundles];
  const deployments = wokenDeployments(options, parts, bundles);
  return bundles === undefined ? [deployments] : [bundles, deployments];
}

function wokenBundles(
  options: ManagerSettings,
  parts: ControllerParts,
  unpacking: UnpackingZone,
): Controller {
  const { kinds } = parts;
  const writes = new OwnWrites(kinds.bundles);
  const { controller, reconciler } = createBundleController(options, parts, {
    unpacking,
    cache: writes,
  });
  kinds.bundles.onChange(({ type, object }) => {
    const { name = '', deletionTimestamp } = object.metadata;
    if (type !== 'deleted' && !writes.taking) controller.enqueue(name);
    if (type === 'deleted' || deletionTimestamp !== undefined) reconciler.abandon(name);
  });
  kinds.configMaps.onChange(({ object }) => {
    const readers = kinds.bundles.byIndex(configMapIndex, object.metadata.name ?? '');
    for (const { metadata } of readers) controller.enqueue(metadata.name ?? '');
  });
  return controller;
}

function wokenDeployments(
  options: ManagerSettings,
  parts: ControllerParts,
  bundles: Controller | undefined,
): Controller {
  const { kinds } = parts;
  const cache = new OwnWrites(kinds.deployments);
  const onLost = (bundle: string): void => bundles?.enqueue(bundle);
  const deployments = createDeploymentController(options, parts, { cache, onLost });
  kinds.bundles.onChange(({ object, previous }) => {
    for (const owner of ownerOf(previous ?? object)) deployments.enqueue(owner);
    for (const owner of ownerOf(object)) deployments.enqueue(owner);
  });
  kinds.deployments.onChange((change) => {
    const { name = '' } = change.object.metadata;
    if (!cache.taking) deployments.enqueue(name);
    for (const dependency of changedDependencies(change)) deployments.enqueue(dependency);
    for (const dependent of waitingFor(kinds, name)) deployments.enqueue(dependent);
  });
  return deployments;
}

/** What depends on a deployment and may be waiting for it: an own write is news to them too. */
function waitingFor({ deployments }: Kinds, name: string): readonly string[] {
  return deployments
    .byIndex(dependencyIndex, name)
    .filter((dependent) => !isBroughtOut(dependent))
    .map(({ metadata }) => metadata.name ?? '');
}

function createBundleController(
  options: ManagerSettings,
  parts: ControllerParts,
  { unpacking, cache }: { unpacking: UnpackingZone; cache: OwnWrites<Bundle> },
): { readonly controller: Controller; readonly reconciler: BundleReconciler } {
  const { kube, events, metrics, clock } = parts;
  const { logger, mindsUnserved } = options;
  const reconciler = new BundleReconciler({
    ...unpacking.dependencies,
    endsUnserved: mindsUnserved,
    client: kube.client,
    cache,
    uploads: unpacking.uploads?.store,
    events,
  });
  const kind = { resource: bundleResource, classes: unpacking.dependencies.provisioners };
  const controller = new Controller({
    name: 'bundle',
    kind: 'Bundle',
    // A Bundle that waits costs next to nothing, and must hold up no deletion: slots bound the rest.
    workers: Number.POSITIVE_INFINITY,
    reconcile: servedOnly(options, parts, { ...kind, cache, reconciler }),
    clock,
    logger,
    metrics,
  });
  return { controller, reconciler };
}

function createDeploymentController(
  options: ManagerSettings,
  parts: ControllerParts,
  { cache, onLost }: { cache: OwnWrites<BundleDeployment>; onLost: (bundle: string) => void },
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
  const kind = { resource: bundleDeploymentResource, classes: provisioners };
  const reconciler = new BundleDeploymentReconciler({
    ...shared,
    deployments: {
      get: (key) => cache.get(key),
      dependentsOf: (name) => kinds.deployments.byIndex(dependencyIndex, name),
      upsertIfNewer: (deployment) => cache.upsertIfNewer(deployment),
    },
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
    endsUnserved: mindsUnserved,
  });
  const controller = new Controller({
    name: 'bundledeployment',
    kind: 'BundleDeployment',
    workers,
    ownWorkers: ownWorkers({ deployments: kinds.deployments, ownPlaces, bundleClasses }),
    claimOf: (name) => claimOfDeployment(name, kinds),
    reconcile: servedOnly(options, parts, { ...kind, cache, reconciler }),
    clock,
    logger,
    metrics,
  });
  applier.onChange((owner, news) => wake(controller, owner, news));
  facts.onChange((name) => controller.enqueue(name));
  return controller;
}

function ownedBundles({ bundles }: Kinds, unpacking: UnpackingZone | undefined) {
  return {
    ownedBy: (name: string) => bundles.byIndex(ownerIndex, name),
    kept: (name: string) => unpacking?.kept.get(name),
    upsertIfNewer: (bundle: Bundle) => bundles.upsertIfNewer(bundle),
  };
}

interface Served extends Pick<UnservedClassesOptions, 'resource' | 'classes'> {
  readonly cache: { get(key: { readonly name: string }): Bundle | BundleDeployment | undefined };
  readonly reconciler: { reconcile: ControllerOptions['reconcile'] };
}

/** A reconcile that says of objects whose class nobody serves that it is so, where this process is to. */
function servedOnly(
  { mindsUnserved }: ManagerSettings,
  { kube: { client }, events, clock }: ControllerParts,
  { cache, reconciler, ...kind }: Served,
): ControllerOptions['reconcile'] {
  if (!mindsUnserved) return (name, context) => reconciler.reconcile(name, context);
  const unserved = new UnservedClasses({ ...kind, client, events, clock });
  return async (name, context) =>
    (await unserved.tell(cache.get({ name }), context.signal)) ??
    (await reconciler.reconcile(name, context));
}

/** Who unpacks nothing reads all content from a content server. */
function storedBy(
  unpacking: UnpackingZone | undefined,
  bundleClasses: ReadonlyMap<string, Provisioner>,
): Omit<ContentLoaderParts, 'onLost'> {
  if (unpacking === undefined) return { stores: [], ownClasses: new Map() };
  return { stores: [unpacking.store, unpacking.kept], ownClasses: bundleClasses };
}

function wake(controller: Controller, owner: string, news: ObjectNews): void {
  if (news === 'change') controller.enqueue(owner, precedence.urgent);
  else controller.enqueueAfter(owner, detailDelay);
}
