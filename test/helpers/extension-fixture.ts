import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/meta.ts';
import { clusterExtensionResource } from '../../api/olm/v1/index.ts';
import { operatorResource } from '../../api/operators/v1alpha1/index.ts';
import {
  type BundleDeployment,
  type BundleDeploymentStatus,
  type Condition,
  kstatusCondition,
} from '../../api/v1alpha1/index.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { ApiError, IndexedCache, Semaphore } from '../../core/controller.ts';
import type { ExtensionKind } from '../../operators/extensions/extension.ts';
import type { Choice, FailedChoice, ResolvedChoice } from '../../operators/extensions/findings.ts';
import { clusterExtensionKind } from '../../operators/extensions/kinds/cluster-extension-kind.ts';
import { operatorKind } from '../../operators/extensions/kinds/operator-kind.ts';
import { ExtensionReconciler } from '../../operators/extensions/reconciler.ts';
import type { Bundle, CatalogReference } from '../../resolver/candidates/index.ts';
import { parseVersion } from '../../resolver/versions/index.ts';
import { EventList } from './event-list.ts';
import { jsonPatched } from './json-patched.ts';
import { ManualClock } from './manual-clock.ts';

type Fields = Readonly<Record<string, unknown>>;

export function anOperator(spec: Fields = {}, name = 'painter'): KubernetesObject {
  return {
    apiVersion: 'operators.operatorframework.io/v1alpha1',
    kind: operatorResource.kind,
    metadata: { name, uid: `uid-of-${name}`, generation: 1 },
    spec: { packageName: 'painter', ...spec },
  };
}

/** `catalog` are fields of spec.source.catalog. */
export function aClusterExtension(
  catalog: Fields = {},
  spec: Fields = {},
  name = 'painter',
): KubernetesObject {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: clusterExtensionResource.kind,
    metadata: { name, uid: `uid-of-extension-${name}`, generation: 1 },
    spec: {
      namespace: 'painters',
      source: { sourceType: 'Catalog', catalog: { packageName: 'painter', ...catalog } },
      ...spec,
    },
  };
}

/** The BundleDeployment of an extension, with a bundle of `painter` installed. */
export function installedDeployment(
  { kind, metadata }: KubernetesObject,
  version: string,
): KubernetesObject {
  const { name = '', uid } = metadata;
  const image = `example.com/painter:${version}`;
  const selected = {
    package: 'painter',
    name: `painter.v${version}`,
    version,
    image,
    catalog: 'colours',
    className: 'core-rukpak-io-registry',
  };
  const record = { of: `${kind}/${name}`, applied: '', selected, earlier: [] };
  const template = {
    metadata: {},
    spec: {
      provisionerClassName: 'core-rukpak-io-registry',
      source: { type: 'image' as const, image: { ref: image } },
    },
  };
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: {
      name,
      annotations: { 'core.rukpak.io/selected-bundle': JSON.stringify(record) },
      ownerReferences: [{ kind, name, uid: uid ?? '', apiVersion: 'x/v1', controller: true }],
    },
    spec: { provisionerClassName: 'core-rukpak-io-plain', template },
    status: { activeBundle: bundleName(name, templateHash(template)) },
  };
}

/** Bundle `painter.v<version>` of image `example.com/painter:<version>`. */
export function aCatalogBundle(version: string, properties: Bundle['properties'] = []): Bundle {
  const image = `example.com/painter:${version}`;
  return { name: `painter.v${version}`, image, version: parseVersion(version), properties };
}

const catalog: CatalogReference = { name: 'colours', namespace: '', priority: 0 };

/** The choice of a version, which is also the newest one. */
export function chosen(version: string, fields: Partial<ResolvedChoice> = {}): ResolvedChoice {
  const bundle = fields.bundle ?? aCatalogBundle(version);
  return {
    kind: 'resolved',
    packageName: 'painter',
    bundle,
    catalog,
    newest: { bundle, catalog, notTaken: undefined },
    dependencies: [],
    deprecations: [],
    ...fields,
  };
}

export function notChosen(message: string, fields: Partial<FailedChoice> = {}): FailedChoice {
  return {
    kind: 'failed',
    reason: 'no-candidates',
    message,
    advice: `${message}.`,
    newest: undefined,
    deprecations: [],
    ...fields,
  };
}

interface CoreStatus {
  readonly reason?: string;
  readonly message?: string;
  readonly outlook?: 'Reconciling' | 'Stalled';
  /** Other conditions, by type. */
  readonly conditions?: Readonly<Record<string, readonly [status: string, message: string]>>;
  readonly activeBundle?: string;
  readonly rollback?: BundleDeploymentStatus['rollback'];
}

/** One object and the reconciler of its kind, with the choices that the test makes for it. */
export class ExtensionFixture {
  choice: Choice = chosen('1.0.0');
  /** `apply BundleDeployment/painter`. */
  readonly requests: string[] = [];
  readonly events = new EventList();
  /** The next apply fails with it. */
  refusal: ApiError | undefined;
  /** A BundleDeployment of somebody else, which the watch has not shown yet. */
  unseen: BundleDeployment | undefined;
  /** What happens while a bundle is chosen. */
  meanwhile: () => void = () => undefined;
  /** The object as the API server has it, and the watch has not shown yet; undefined if it is gone. */
  live: (seen: KubernetesObject) => KubernetesObject | undefined = (seen) => seen;
  readonly #kind: ExtensionKind;
  readonly #name: string;
  readonly #objects = new IndexedCache();
  readonly #deployments = new IndexedCache<BundleDeployment>();
  readonly #reconciler: ExtensionReconciler;
  #version = 1;

  constructor(object: KubernetesObject) {
    this.#kind =
      object.kind === operatorResource.kind
        ? operatorKind({ forceSemverUpgradeConstraints: true })
        : clusterExtensionKind;
    this.#name = object.metadata.name ?? '';
    this.#objects.upsert(this.#stored(object));
    this.#reconciler = new ExtensionReconciler({
      kind: this.#kind,
      client: {
        apply: async (_, applied, options) => this.#apply(applied, options),
        get: async () => this.#get(),
        patch: async (_, patch) => this.#patch(patch),
      },
      objects: this.#objects,
      deployments: this.#deployments,
      choices: {
        choose: async () => {
          const { choice } = this;
          this.meanwhile();
          return choice;
        },
        retryAfter: () => undefined,
        forget: () => undefined,
      },
      places: new Semaphore(1),
      events: this.events,
      clock: new ManualClock(),
    });
  }

  get object(): KubernetesObject {
    return present(this.#objects.get({ name: this.#name }));
  }

  get status(): Fields {
    return this.object['status'] as Fields;
  }

  /** `Installed True Success: installed from …`. */
  get conditions(): readonly string[] {
    const conditions = this.status['conditions'] as readonly Condition[];
    return conditions.map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
    );
  }

  condition(type: string): string | undefined {
    return this.conditions.find((condition) => condition.startsWith(`${type} `));
  }

  get deployment(): BundleDeployment | undefined {
    return this.#deployments.get({ name: this.#name });
  }

  get image(): string | undefined {
    return this.deployment?.spec.template.spec.source.image?.ref;
  }

  async reconcile(): Promise<void> {
    const { signal } = new AbortController();
    await this.#reconciler.reconcile(this.#name, { signal, stopping: signal });
  }

  /** The requests since the last call. */
  taken(): string[] {
    return this.requests.splice(0);
  }

  change(object: KubernetesObject): void {
    this.#objects.upsert(this.#stored(object));
  }

  changeSpec(spec: Fields): void {
    const { metadata, ...rest } = this.object;
    const generation = (metadata.generation ?? 0) + 1;
    const merged = { ...(rest['spec'] as Fields), ...spec };
    this.change({ ...rest, metadata: { ...metadata, generation }, spec: merged });
  }

  /** Somebody else writes the BundleDeployment. */
  put(deployment: BundleDeployment): void {
    this.#deployments.upsert(this.#stored(deployment));
  }

  removeDeployment(): void {
    this.#deployments.remove(this.#stored(present(this.deployment)));
  }

  /** Core installs the Bundle of the template. */
  coreInstalls(): void {
    this.coreReports({
      activeBundle: this.wantedBundle,
      reason: 'Healthy',
      message: 'Bundle is installed and healthy',
      conditions: { HasValidBundle: ['True', ''], Installed: ['True', 'Instantiated'] },
    });
  }

  get wantedBundle(): string {
    const { metadata, spec } = present(this.deployment);
    return bundleName(metadata.name ?? '', templateHash(spec.template));
  }

  coreReports(report: CoreStatus): void {
    const deployment = present(this.deployment);
    const { generation = 0 } = deployment.metadata;
    const { activeBundle = deployment.status?.activeBundle, rollback } = report;
    const status: BundleDeploymentStatus = {
      observedGeneration: generation,
      conditions: conditionsOf(report, generation),
      ...(activeBundle === undefined ? {} : { activeBundle }),
      ...(rollback === undefined ? {} : { rollback }),
    };
    this.put({ ...deployment, status });
  }

  #apply(applied: KubernetesObject, options: { force?: boolean }): KubernetesObject {
    this.requests.push(`apply BundleDeployment/${applied.metadata.name}`);
    const refusal = this.refusal ?? this.#conflict(options);
    this.refusal = undefined;
    if (refusal !== undefined) throw refusal;
    const before = this.deployment ?? this.unseen;
    const isSame = isDeepStrictEqual(before?.spec, applied['spec']);
    const last = { generation: 0, uid: 'uid-of-deployment', ...before?.metadata };
    const generation = isSame ? last.generation : last.generation + 1;
    const metadata = { ...last, ...applied.metadata, uid: last.uid, generation };
    const stored = this.#stored({ ...before, ...applied, metadata } as BundleDeployment);
    this.#deployments.upsert(stored);
    return stored;
  }

  #get(): KubernetesObject {
    this.requests.push(`get ${this.object.kind}/${this.#name}`);
    const live = this.live(this.object);
    if (live !== undefined) return live;
    throw new ApiError(404, {
      reason: 'NotFound',
      message: 'not found',
      code: 404,
      details: { name: this.#name },
    });
  }

  /** The API server's answer to an apply without force. */
  #conflict({ force = false }: { force?: boolean }): ApiError | undefined {
    if (this.unseen === undefined || force) return undefined;
    const message = 'Apply failed with 1 conflict: conflict with "kubectl": .spec.template';
    return new ApiError(409, { reason: 'Conflict', message, code: 409 });
  }

  #patch(patch: unknown): KubernetesObject {
    this.requests.push(`patch ${this.object.kind}/${this.#name}`);
    const stored = this.#stored(jsonPatched(this.object, patch));
    this.#objects.upsert(stored);
    return stored;
  }

  #stored<T extends KubernetesObject>(object: T): T {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    return { ...object, metadata };
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is none');
  return value;
}

function conditionsOf(
  { reason = 'Healthy', message = '', outlook, conditions = {} }: CoreStatus,
  observedGeneration: number,
): Condition[] {
  const common = { observedGeneration, lastTransitionTime: '2026-01-01T00:00:00Z' };
  const given = Object.entries(conditions).map(([type, [status, text]]) => ({
    type,
    status: status as Condition['status'],
    reason: 'Reason',
    message: text,
    ...common,
  }));
  const isReady = outlook === undefined;
  const ready = { type: kstatusCondition.ready, status: isReady ? 'True' : 'False' } as const;
  const summary: Condition[] = [...given, { ...ready, reason, message, ...common }];
  return isReady
    ? summary
    : [...summary, { type: outlook, status: 'True', reason, message, ...common }];
}
