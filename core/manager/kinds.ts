import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  type Bundle,
  type BundleDeployment,
  bundleDeploymentResource,
  bundleResource,
  generatedFor,
} from '../../api/v1alpha1/index.ts';
import { keepTemplateManager } from '../bundle-deployment/index.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Clock } from '../platform/clock.ts';
import {
  configMapResource,
  type KubeClient,
  keyOf,
  Reflector,
  type ReflectorOptions,
  versionOnly,
} from '../platform/kube/index.ts';
import { IndexedCache, type Runnable, reflectorRunnable } from '../platform/runtime/index.ts';

/** The kinds that reconcilers go by, as watch caches hold them. */
export interface Kinds {
  readonly bundles: IndexedCache<Bundle>;
  /** Empty where this process applies none. */
  readonly deployments: IndexedCache<BundleDeployment>;
  /** Those of the system namespace, without their content; empty where nobody reads any. */
  readonly configMaps: IndexedCache;
  /** Keep the caches equal to the API server; ready when they are for the first time. */
  readonly reflectors: readonly Runnable[];
  /** Throws with the reason where a cache is not filled yet. */
  checkSynced(): void;
}

/** Index of Bundles by the BundleDeployment that they were made for. */
export const ownerIndex = 'owner';

/** Index of Bundles by the ConfigMaps that their content comes from. */
export const configMapIndex = 'configMap';

/** Index of BundleDeployments by those that they depend on. */
export const dependencyIndex = 'dependency';

interface WatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whose ConfigMaps hold content (default: none are watched). */
  readonly configMapNamespace?: string | undefined;
}

export function watchKinds(given: WatchOptions): Kinds {
  const { configMapNamespace, ...options } = given;
  const bundles = new IndexedCache<Bundle>({
    [ownerIndex]: (bundle) => ownerOf(bundle),
    [configMapIndex]: (bundle) => configMapsOf(bundle),
  });
  const deployments = new IndexedCache<BundleDeployment>({
    [dependencyIndex]: ({ spec }) => spec.dependsOn?.map(({ name }) => name) ?? [],
  });
  const configMaps = new IndexedCache();
  const reflectors = [
    new Reflector<Bundle>({ ...options, resource: bundleResource, sink: bundles }),
    deploymentReflector({ ...options, sink: deployments }),
    ...(configMapNamespace === undefined
      ? []
      : [configMapReflector({ ...options, namespace: configMapNamespace, sink: configMaps })]),
  ];
  return {
    bundles,
    deployments,
    configMaps,
    reflectors: reflectors.map((reflector) => reflectorRunnable('reflector', reflector)),
    checkSynced() {
      for (const { synced, lastError } of reflectors) {
        if (!synced) throw new Error(lastError?.message ?? 'the first list is under way');
      }
    },
  };
}

function deploymentReflector(
  options: Omit<ReflectorOptions<BundleDeployment>, 'resource' | 'transform'>,
): Reflector<BundleDeployment> {
  return new Reflector<BundleDeployment>({
    ...options,
    resource: bundleDeploymentResource,
    // Who set the template is told where no webhook noted the user.
    transform: (object) => keepTemplateManager(object as BundleDeployment),
  });
}

/** Their content may be a mebibyte each, and is read when it is needed. */
function configMapReflector(options: Omit<ReflectorOptions, 'resource' | 'transform'>): Reflector {
  return new Reflector({
    ...options,
    resource: configMapResource,
    metadataOnly: true,
    transform: versionOnly,
  });
}

function configMapsOf({ spec: { source } }: Bundle): readonly string[] {
  if (source.type !== 'configMaps') return [];
  return [...new Set(source.configMaps?.map(({ configMap }) => configMap.name ?? ''))];
}

/** The owner's name, as a list of one, or none for a Bundle that no deployment generated. */
export function ownerOf(bundle: Bundle): readonly string[] {
  const owner = generatedFor(bundle);
  return owner === undefined ? [] : [owner];
}

/**
 * A cache for a reconciler that writes the status and finalizers of what it watches. The answers to
 * its writes go into the cache at once, and a listener can tell them from news: its own write is no
 * reason to reconcile again.
 */
export class SelfWriteCache<T extends KubernetesObject> {
  readonly #cache: IndexedCache<T>;
  #isSelfWrite = false;

  constructor(cache: IndexedCache<T>) {
    this.#cache = cache;
  }

  /** Whether the change that a listener is being told of is a write of the reconciler itself. */
  get isSelfWrite(): boolean {
    return this.#isSelfWrite;
  }

  get(key: { readonly name: string }): T | undefined {
    return this.#cache.get(key);
  }

  upsertIfNewer(object: T): void {
    // What others changed meanwhile comes with the answer; the watch will have nothing to add.
    this.#isSelfWrite = isDeepStrictEqual(
      partOfOthers(this.#cache.get(keyOf(object))),
      partOfOthers(object),
    );
    try {
      this.#cache.upsertIfNewer(object);
    } finally {
      this.#isSelfWrite = false;
    }
  }
}

/** What a status and finalizers are not. */
function partOfOthers(object: KubernetesObject | undefined): unknown {
  if (object === undefined) return undefined;
  const { uid, generation, deletionTimestamp, labels, annotations } = object.metadata;
  return { uid, generation, deletionTimestamp, labels, annotations };
}
