import { expect } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment, Condition } from '../../api/v1alpha1/index.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { systemClock } from '../../core/controller.ts';
import type { KubeClient } from '../../core/platform/kube/index.ts';
import { inlineResolver, type PackageResolver } from '../../operators/catalogs/index.ts';
import { extensionControllers } from '../../operators/extensions/index.ts';
import { CountingClient } from './counting-client.ts';
import { EventList } from './event-list.ts';
import { eventually } from './eventually.ts';
import { FakeKubeClient } from './fake-kube-client.ts';
import type { FixedContents } from './fixed-contents.ts';
import { silentLogger } from './silent-logger.ts';

const kinds = ['Operator', 'ClusterExtension', 'BundleDeployment'] as const;
type Kind = (typeof kinds)[number];

/** The controllers of extensions on an API server in memory, and a core that installs at once. */
export class ExtensionCluster {
  readonly events = new EventList();
  /** The answer of an API server that refuses a request; undefined lets it pass. */
  refuses: (request: WriteRequest) => Error | undefined = () => undefined;
  readonly #contents: FixedContents;
  readonly #resolver: PackageResolver;
  readonly #stores: Readonly<Record<Kind, FakeKubeClient>>;
  readonly #client: CountingClient;
  #installsDependencies: boolean;
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    contents: FixedContents,
    {
      resolver = inlineResolver(contents),
      installsDependencies = false,
    }: { resolver?: PackageResolver; installsDependencies?: boolean } = {},
  ) {
    this.#contents = contents;
    this.#resolver = resolver;
    this.#installsDependencies = installsDependencies;
    this.#stores = {
      Operator: new FakeKubeClient(),
      ClusterExtension: new FakeKubeClient(),
      BundleDeployment: new FakeKubeClient(),
    };
    this.#client = new CountingClient(dispatch(this.#stores, (request) => this.refuses(request)));
  }

  /** Starts the controllers; again after `stop`, as a new process, which may have another flag. */
  async start({ installsDependencies = this.#installsDependencies } = {}): Promise<void> {
    this.#installsDependencies = installsDependencies;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const { caches, controllers } = extensionControllers({
      client: this.#client,
      contents: this.#contents,
      resolver: this.#resolver,
      events: this.events,
      clock: systemClock,
      logger: silentLogger,
      forceSemverUpgradeConstraints: true,
      installDependencies: this.#installsDependencies,
    });
    const watches = caches.map((cache) => cache.run(signal));
    await Promise.all(caches.map(async (cache) => await cache.ready?.(signal)));
    const working = controllers.map((controller) => controller.run(signal));
    this.#running = Promise.all([...watches, ...working]);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test ends'));
    await this.#running;
  }

  put(...objects: readonly KubernetesObject[]): void {
    for (const object of objects) this.#stores[object.kind as Kind].put(object);
  }

  remove(kind: Kind, name: string): void {
    this.#stores[kind].drop({ name });
  }

  get(kind: Kind, name: string): KubernetesObject | undefined {
    return this.#stores[kind].peek({ name });
  }

  image(name: string): string | undefined {
    const deployment = this.get('BundleDeployment', name) as BundleDeployment | undefined;
    return deployment?.spec.template.spec.source.image?.ref;
  }

  /** `Installed True Success: …` */
  condition(kind: Kind, name: string, type: string): string | undefined {
    const { conditions = [] } = (this.get(kind, name)?.['status'] ?? {}) as {
      conditions?: readonly Condition[];
    };
    const found = conditions.find((condition) => condition.type === type);
    return found && `${found.status} ${found.reason}: ${found.message}`;
  }

  /** Core installs every BundleDeployment that it has not installed. */
  coreInstalls(): void {
    for (const object of this.#stores.BundleDeployment.everything) {
      const deployment = object as BundleDeployment;
      const activeBundle = wanted(deployment);
      if (deployment.status?.activeBundle === activeBundle) continue;
      this.put({ ...deployment, status: { observedGeneration: 1, activeBundle, conditions } });
    }
  }

  /** All that is under way is done, installed by core, and what was sent for it is forgotten. */
  async settled(): Promise<void> {
    await eventually(async () => {
      this.coreInstalls();
      this.taken();
      await new Promise((resolve) => setImmediate(resolve));
      expect(this.taken()).toEqual([]);
    });
  }

  /** Core cannot unpack the bundle of a BundleDeployment. */
  coreFails(name: string, message: string): void {
    const deployment = this.get('BundleDeployment', name) as BundleDeployment;
    const failure = { reason: 'UnpackFailed', message, observedGeneration: 1, lastTransitionTime };
    const reported = [
      { type: 'HasValidBundle', status: 'False', ...failure },
      { type: 'Ready', status: 'False', ...failure },
      { type: 'Stalled', status: 'True', ...failure },
    ];
    this.put({ ...deployment, status: { observedGeneration: 1, conditions: reported } });
  }

  /** Deletes what only owners keep that are gone, and what they owned, as the garbage collector does. */
  collectGarbage(): void {
    for (;;) {
      const all = kinds.flatMap((kind) => this.#stores[kind].everything);
      const uids = new Set(all.map(({ metadata }) => metadata.uid));
      const garbage = all.filter(({ metadata: { ownerReferences = [] } }) => {
        return ownerReferences.length > 0 && ownerReferences.every(({ uid }) => !uids.has(uid));
      });
      if (garbage.length === 0) return;
      for (const { kind, metadata } of garbage) this.remove(kind as Kind, metadata.name ?? '');
    }
  }

  /** Names of all objects of a kind, sorted. */
  names(kind: Kind): readonly string[] {
    return this.#stores[kind].everything.map(({ metadata }) => metadata.name ?? '').toSorted();
  }

  /** The requests since the last call, sorted. */
  taken(): readonly string[] {
    return this.#client.taken().toSorted();
  }
}

const lastTransitionTime = '2026-01-01T00:00:00Z';
const conditions = ['Installed', 'Ready'].map((type) => ({
  type,
  status: 'True',
  reason: 'Healthy',
  message: '',
  observedGeneration: 1,
  lastTransitionTime,
}));

function wanted({ metadata, spec }: BundleDeployment): string {
  return bundleName(metadata.name ?? '', templateHash(spec.template));
}

interface WriteRequest {
  readonly verb: 'create' | 'patch' | 'delete';
  readonly kind: string;
  readonly name: string;
}

/** Generations stay 1: no test looks at them here. */
function dispatch(
  stores: Readonly<Record<Kind, FakeKubeClient>>,
  refuses: (request: WriteRequest) => Error | undefined,
): KubeClient {
  const check = (verb: WriteRequest['verb'], kind: string, name = ''): void => {
    const refusal = refuses({ verb, kind, name });
    if (refusal !== undefined) throw refusal;
  };
  const of = (kind: string): FakeKubeClient => stores[kind as Kind];
  const [first] = [stores.Operator];
  const client: KubeClient = {
    get: (resource, key, signal) => of(resource.kind).get(resource, key, signal),
    list: (resource, options) => of(resource.kind).list(resource, options),
    watch: (resource, options) => of(resource.kind).watch(resource, options),
    create: (resource, object) => of(resource.kind).create(resource, object),
    update: (resource, object) => of(resource.kind).update(resource, object),
    patch: async (target, patch, options) => {
      const { kind } = target.resource;
      if (options?.subresource === undefined) check('patch', kind, target.key.name);
      return await of(kind).patch(target, patch, options);
    },
    delete: async (resource, key, options) => {
      check('delete', resource.kind, key.name);
      return await of(resource.kind).delete(resource, key, options);
    },
    apply: async (resource, object) => {
      const store = of(resource.kind);
      const { name = '' } = object.metadata;
      const live = store.peek({ name });
      check(live === undefined ? 'create' : 'patch', resource.kind, name);
      const metadata = { generation: 1, ...live?.metadata, ...object.metadata };
      return store.put({ ...live, ...object, metadata });
    },
    request: async () => undefined,
    impersonate: () => first,
    ofCreator: () => first,
    reserved: () => client,
  };
  return client;
}
