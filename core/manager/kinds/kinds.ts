import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  type Bundle,
  type BundleDeployment,
  bundleDeploymentResource,
  bundleResource,
  generatedFor,
} from '../../../api/v1alpha1/index.ts';
import { transferTargets } from '../../apply/index.ts';
import { keepTemplateManager } from '../../bundle-deployment/index.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  configMapResource,
  type KubeClient,
  keyOf,
  Reflector,
  type ReflectorOptions,
  versionOnly,
} from '../../platform/kube/index.ts';
import { IndexedCache, type Runnable, reflectorRunnable } from '../../platform/runtime/index.ts';

/** The watched kinds of the reconcilers. */
export interface Kinds {
  readonly bundles: IndexedCache<Bundle>;
  /** Known in each process: they decide whose Secrets a Bundle may use. */
  readonly deployments: IndexedCache<BundleDeployment>;
  /** ConfigMaps of the system namespace without content; empty when no source reads them. */
  readonly configMaps: IndexedCache;
  /** Keep the caches equal to the API server; ready when the caches are first filled. */
  readonly reflectors: readonly Runnable[];
  /** @throws Error with the reason while a cache is not filled. */
  checkSynced(): void;
}

/** Index of Bundles by their BundleDeployment. */
export const ownerIndex = 'owner';

/** Index of Bundles by the ConfigMaps of their content. */
export const configMapIndex = 'configMap';

/** Index of BundleDeployments by their dependencies. */
export const dependencyIndex = 'dependency';

/** Index of BundleDeployments by those to which they transfer objects. */
export const transferTargetIndex = 'transferTarget';

interface WatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Namespace of ConfigMaps with content (default: none are watched). */
  readonly configMapNamespace?: string | undefined;
}

export function watchKinds(given: WatchOptions): Kinds {
  const { configMapNamespace, ...options } = given;
  const bundles = new IndexedCache<Bundle>({
    [ownerIndex]: (bundle) => ownerOf(bundle),
    [configMapIndex]: (bundle) => configMapsOf(bundle),
  });
  const deployments = deploymentCache();
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

export function deploymentCache(): IndexedCache<BundleDeployment> {
  return new IndexedCache<BundleDeployment>({
    [dependencyIndex]: ({ spec }) => spec.dependsOn?.map(({ name }) => name) ?? [],
    [transferTargetIndex]: transferTargets,
  });
}

function deploymentReflector(
  options: Omit<ReflectorOptions<BundleDeployment>, 'resource' | 'transform'>,
): Reflector<BundleDeployment> {
  return new Reflector<BundleDeployment>({
    ...options,
    resource: bundleDeploymentResource,
    // managedFields tell who set the template, when no webhook has recorded the user.
    transform: (object) => keepTemplateManager(object as BundleDeployment),
  });
}

/** Each may contain a mebibyte, which core reads when needed. */
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

/** The owner's name in a list of one; empty for a Bundle without a deployment. */
export function ownerOf(bundle: Bundle): readonly string[] {
  const owner = generatedFor(bundle);
  return owner === undefined ? [] : [owner];
}

/**
 * A cache for a reconciler that writes the status and finalizers of the watched objects. It stores
 * the responses to these writes at once, and tells listeners which changes are the reconciler's
 * own, because those need no reconcile.
 */
export class SelfWriteCache<T extends KubernetesObject> {
  readonly #cache: IndexedCache<T>;
  #isSelfWrite = false;

  constructor(cache: IndexedCache<T>) {
    this.#cache = cache;
  }

  /** Whether the present change is a write of the reconciler itself. */
  get isSelfWrite(): boolean {
    return this.#isSelfWrite;
  }

  get(key: { readonly name: string }): T | undefined {
    return this.#cache.get(key);
  }

  upsertIfNewer(object: T): void {
    // The response also contains what others changed meanwhile, and the watch will not report that
    // again.
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

/** An object without its status and finalizers. */
function partOfOthers(object: KubernetesObject | undefined): unknown {
  if (object === undefined) return undefined;
  const { uid, generation, deletionTimestamp, labels, annotations } = object.metadata;
  return { uid, generation, deletionTimestamp, labels, annotations };
}
