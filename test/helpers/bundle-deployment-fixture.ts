import { vi } from 'vitest';
import { bundleDeploymentCRD } from '../../api/v1alpha1/crd.ts';
import type {
  Bundle,
  BundleDeployment,
  BundleDeploymentStatus,
  BundleStatus,
} from '../../api/v1alpha1/index.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import type {
  BundleDeploymentDependencies,
  PlanStore,
} from '../../core/bundle-deployment/dependencies.ts';
import { desiredBundle } from '../../core/bundle-deployment/desired-bundle.ts';
import {
  BundleDeploymentReconciler,
  Certificates,
  defaultCertificates,
} from '../../core/bundle-deployment/index.ts';
import { noteFor } from '../../core/bundle-deployment/revisions/noted-status.ts';
import { defaultLimits } from '../../core/content/index.ts';
import type { Applier, ApplyRequest, ApplyResult } from '../../core/contracts/applier.ts';
import type { DeploymentHandler } from '../../core/contracts/provisioner.ts';
import {
  dependencyIndex,
  deploymentCache,
  ownerIndex,
  ownerOf,
} from '../../core/manager/kinds/kinds.ts';
import { UnservedObjects } from '../../core/manager/kinds/unserved.ts';
import { IndexedCache } from '../../core/platform/runtime/index.ts';
import type { MindsUnserved } from './bundle-fixture.ts';
import { EventList } from './event-list.ts';
import { FakeKubeClient } from './fake-kube-client.ts';
import { ManualClock } from './manual-clock.ts';
import { anObject, aTree } from './registry-bundle.ts';
import { silentLogger } from './silent-logger.ts';
import { sourceTypes } from './source-types.ts';
import { aStoredDeployment, aTemplate } from './stored-objects.ts';
import { conditionLines, isSummary, withoutSummary } from './summary-conditions.ts';

export const content = aTree({ 'manifests/cm.yaml': 'kind: ConfigMap' });
export const objects = [anObject('ConfigMap')];

/** Templates of three versions. */
export const v1 = aTemplate('example.com/app:v1');
export const v2 = aTemplate('example.com/app:v2');
export const v3 = aTemplate('example.com/app:v3');

export const unpackedStatus: BundleStatus = { phase: 'Unpacked' };

/** The Bundle of a template of deployment `demo`, as that deployment makes it. */
export function aBundleOf(
  template = v1,
  status: BundleStatus | undefined = unpackedStatus,
  metadata: Bundle['metadata'] = {},
): Bundle {
  const bundle = desiredBundle(aStoredDeployment({ template }), templateHash(template));
  const made = { ...bundle, metadata: { ...bundle.metadata, ...metadata } };
  return status === undefined ? made : { ...made, status };
}

export function nameOf(template = v1): string {
  return aBundleOf(template).metadata.name ?? '';
}

/** A BundleDeployment reconciler among fakes: deployment `demo`, one class `plain`. */
export class BundleDeploymentFixture {
  readonly client = new FakeKubeClient();
  readonly deployments = deploymentCache();
  readonly bundles = new IndexedCache<Bundle>({ [ownerIndex]: (bundle) => ownerOf(bundle) });
  /** Gone, with its content kept. */
  kept: Bundle | undefined;
  readonly events = new EventList();
  readonly clock = new ManualClock();
  readonly stop = new AbortController();
  /** The wait that the last reconcile requested, besides its result. */
  wakeAfter: number | undefined;
  readonly load = vi.fn<BundleDeploymentDependencies['content']['load']>(async () => content);
  readonly handler = vi.fn<DeploymentHandler>(async () => objects);
  readonly #health = vi.fn<Applier['health']>(() => []);
  /** What an apply checks before it begins: a rejection refuses it as a whole. */
  readonly check = vi.fn<(request: ApplyRequest) => Promise<void>>(async () => undefined);
  readonly applier = {
    confirm: vi.fn<Applier['confirm']>(async () => undefined),
    apply: vi.fn<Applier['apply']>(async () => ({ changes: 1, complete: true })),
    plan: vi.fn<Applier['plan']>(async () => ({
      digest: 'foreseen',
      changes: [],
      unchanged: 0,
      problems: [],
      warnings: [],
    })),
    remove: vi.fn<Applier['remove']>(async () => ({})),
    runHook: vi.fn<Applier['runHook']>(async () => ({ state: 'succeeded' })),
    runningHook: vi.fn<Applier['runningHook']>(async () => undefined),
    removeHook: vi.fn<Applier['removeHook']>(async () => undefined),
    expireHook: vi.fn<Applier['expireHook']>(async () => undefined),
    health: this.#health,
    explainedHealth: async (owner) => this.#health(owner),
    knows: vi.fn<Applier['knows']>(() => true),
    forget: vi.fn<Applier['forget']>(),
    onChange: vi.fn<Applier['onChange']>(),
  } satisfies Applier;
  readonly facts = {
    prepare: vi.fn<BundleDeploymentDependencies['facts']['prepare']>(async () => ({
      version: '',
      read: async () => ({ inputs: [] }),
    })),
    renew: vi.fn<BundleDeploymentDependencies['facts']['renew']>(),
    forget: vi.fn<BundleDeploymentDependencies['facts']['forget']>(),
    onChange: vi.fn<BundleDeploymentDependencies['facts']['onChange']>(),
  } satisfies BundleDeploymentDependencies['facts'];
  readonly storedPlans = {
    write: vi.fn<PlanStore['write']>(async () => undefined),
    remove: vi.fn<PlanStore['remove']>(async () => undefined),
  } satisfies PlanStore;
  readonly #reconciler: BundleDeploymentReconciler;

  constructor(
    deployment: BundleDeployment = aStoredDeployment(),
    {
      endsUnserved = false,
      ...replaced
    }: Partial<BundleDeploymentDependencies> & MindsUnserved = {},
  ) {
    const { client, events, clock } = this;
    const kind = { client, resource: bundleDeploymentResource, classes: new Map(), events, clock };
    this.client.put(bundleDeploymentCRD());
    this.change(noted(guarded(deployment)));
    this.#reconciler = new BundleDeploymentReconciler({
      client: this.client,
      sources: sourceTypes,
      deployments: {
        get: (key) => this.deployments.get(key),
        dependentsOf: (name) => this.deployments.byIndex(dependencyIndex, name),
        upsertIfNewer: (each) => this.deployments.upsertIfNewer(each),
      },
      bundles: {
        ownedBy: (name) => this.bundles.byIndex(ownerIndex, name),
        kept: (name) => (this.kept?.metadata.name === name ? this.kept : undefined),
        upsertIfNewer: (bundle) => this.bundles.upsertIfNewer(bundle),
      },
      provisioners: new Map([['plain', { className: 'plain', deployment: this.handler }]]),
      bundleClasses: new Map(),
      content: { load: this.load },
      applier: { ...this.applier, apply: async (request) => await this.#apply(request) },
      facts: this.facts,
      certificates: new Certificates({
        ...defaultCertificates,
        client: this.client,
        clock: this.clock,
        events: this.events,
        discovery: { apiVersions: async () => [], invalidate: () => undefined },
        systemNamespace: 'rukpak-system',
      }),
      storedPlans: this.storedPlans,
      systemNamespace: 'rukpak-system',
      limits: defaultLimits,
      reportHealth: true,
      events: this.events,
      clock: this.clock,
      logger: silentLogger,
      unserved: endsUnserved ? new UnservedObjects(kind) : undefined,
      ...replaced,
    });
  }

  async #apply(request: ApplyRequest): Promise<ApplyResult> {
    await this.check(request);
    await request.begin?.();
    return await this.applier.apply(request);
  }

  /** Stores the deployment as another client would, and lets the cache see it. */
  change(deployment: BundleDeployment): void {
    this.deployments.upsert(this.client.put(deployment) as BundleDeployment);
  }

  /** Deletes the deployment as the API server does when it overlooks its finalizers. */
  vanish(): void {
    const { live } = this;
    this.client.drop({ name: 'demo' });
    this.deployments.remove(live);
    this.#reconciler.noteDeleted(live);
  }

  /** Gives the live deployment another template or config. */
  changeSpec(change: Partial<BundleDeployment['spec']>): void {
    const { metadata, spec } = this.live;
    const generation = (metadata.generation ?? 0) + 1;
    this.change({
      ...this.live,
      metadata: { ...metadata, generation },
      spec: { ...spec, ...change },
    });
  }

  /** Stores Bundles as another client would, and lets the cache see them. */
  have(...bundles: readonly Bundle[]): void {
    for (const bundle of bundles) this.bundles.upsert(this.client.put(bundle) as Bundle);
  }

  async reconcile(name = 'demo'): Promise<{ requeueAfter?: number }> {
    this.wakeAfter = undefined;
    const context = {
      signal: this.stop.signal,
      logger: silentLogger,
      wakeAfter: (ms: number) => {
        this.wakeAfter = ms;
      },
    };
    const result = await this.#reconciler.reconcile(name, context);
    this.#watch();
    return result;
  }

  /** The error of a reconcile; undefined after a success. */
  async failure(): Promise<unknown> {
    try {
      await this.reconcile();
      return undefined;
    } catch (error) {
      this.#watch();
      return error;
    }
  }

  /** The deployment in the API server. */
  get live(): BundleDeployment {
    const deployment = this.client.peek({ name: 'demo' });
    if (deployment === undefined) throw new Error('the BundleDeployment is gone');
    return deployment as BundleDeployment;
  }

  /** The deployment in the API server, without the conditions that summarize the others. */
  get status(): BundleDeploymentStatus {
    return withoutSummary(this.live.status ?? {});
  }

  /** `<type> <status> <reason>: <message>` of each condition but those that sum them up. */
  get conditions(): string[] {
    return conditionLines(this.status.conditions);
  }

  /** The same of those: Ready, Reconciling and Stalled. */
  get summary(): string[] {
    return conditionLines(this.live.status?.conditions?.filter(isSummary));
  }

  /** Names of the Bundles that there are. */
  get bundleNames(): string[] {
    return this.bundles.list().map(({ metadata }) => metadata.name ?? '');
  }

  #watch(): void {
    const items = this.client.everything;
    this.bundles.replace(items.filter(({ kind }) => kind === 'Bundle') as Bundle[], '0');
  }
}

/** With the finalizer of a deployment with installed objects; or the given one. */
function guarded(deployment: BundleDeployment): BundleDeployment {
  const { metadata } = deployment;
  if (metadata.finalizers !== undefined || metadata.deletionTimestamp !== undefined)
    return deployment;
  return { ...deployment, metadata: { ...metadata, finalizers: [finalizer.deleteObjects] } };
}

/** With the annotation that makes core believe the given status, as if core had written it. */
function noted(deployment: BundleDeployment): BundleDeployment {
  const { metadata, status } = deployment;
  const note = status === undefined ? undefined : noteFor(deployment, status);
  if (note === undefined) return deployment;
  const annotations = { [annotation.notedStatus]: note, ...metadata.annotations };
  return { ...deployment, metadata: { ...metadata, annotations } };
}
