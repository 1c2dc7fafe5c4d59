import type { KubernetesObject } from '../../api/meta.ts';
import {
  type Bundle,
  type BundleDeployment,
  bundleDeploymentResource,
  bundleResource,
} from '../../api/v1alpha1/index.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import type { Clock } from '../../core/platform/clock.ts';
import { configMapResource, type KubeClient, Reflector } from '../../core/platform/kube/index.ts';
import {
  IndexedCache,
  type Runnable,
  reflectorRunnable,
} from '../../core/platform/runtime/index.ts';
import type { AdmissionRouteOptions } from '../../webhooks/index.ts';
import { bundleReferences, configMapReader, configMapsOf } from './live-lookups.ts';

const configMapIndex = 'configMap';
/** Milliseconds. A restart of the API server is shorter, and ends every watch. */
const unreadyAfter = 60_000;

interface ConfigMap extends KubernetesObject {
  readonly immutable?: boolean;
}

/** The lookups of reviews. */
export interface CachedRouteOptions
  extends Omit<AdmissionRouteOptions, 'client' | 'requireServiceAccount' | 'ruleProblem'> {}

interface WebhookCaches {
  readonly routes: CachedRouteOptions;
  readonly reflectors: readonly Runnable[];
  /**
   * Throws when no watch has worked for a minute: the process cannot reach the API server, and a
   * replica may. The failure of one watch, such as for want of a permission, is one of all replicas.
   */
  readonly checkWatches: () => void;
}

/**
 * Watches that answer most lookups of the webhooks; the API server answers what a late watch may
 * not know.
 */
export function createWebhookCaches(options: {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly systemNamespace: string;
}): WebhookCaches {
  const { systemNamespace, ...shared } = options;
  const bundles = new IndexedCache<Bundle>({ [configMapIndex]: configMapsOf });
  const configMaps = new IndexedCache<ConfigMap>();
  const deployments = new IndexedCache<BundleDeployment>();
  const configMapReflector = new Reflector<ConfigMap>({
    ...shared,
    resource: configMapResource,
    namespace: systemNamespace,
    sink: configMaps,
    transform: withoutData,
  });
  const reflectors = [
    new Reflector<Bundle>({ ...shared, resource: bundleResource, sink: bundles }),
    configMapReflector,
    new Reflector<BundleDeployment>({
      ...shared,
      resource: bundleDeploymentResource,
      sink: deployments,
      transform: dependenciesOnly,
    }),
  ];
  return {
    routes: {
      systemNamespace,
      bundles: bundleReferences(options.client, (configMap) =>
        bundles.byIndex(configMapIndex, configMap).map(({ metadata }) => metadata.name ?? ''),
      ),
      configMaps: configMapReader(options.client, systemNamespace, (name) =>
        // Deleted, and created as mutable, while nothing is told.
        configMapReflector.lastError === undefined
          ? configMaps.get({ namespace: systemNamespace, name })
          : undefined,
      ),
      deployments: {
        dependenciesOf: (name) =>
          deployments.get({ name })?.spec.dependsOn?.map((dependency) => dependency.name) ?? [],
      },
    },
    reflectors: reflectors.map((reflector) => reflectorRunnable('webhook cache', reflector)),
    checkWatches() {
      if (!reflectors.every(({ failingFor }) => failingFor >= unreadyAfter)) return;
      throw new Error(`no watch works: ${configMapReflector.lastError?.message}`);
    },
  };
}

/** Reviews need only to know whether it is immutable, not its data. */
function withoutData({ apiVersion, kind, metadata, ...rest }: KubernetesObject): ConfigMap {
  const { name, namespace, uid, resourceVersion } = metadata;
  const kept = { name, namespace, uid, resourceVersion } as ConfigMap['metadata'];
  return { apiVersion, kind, metadata: kept, immutable: rest['immutable'] === true };
}

/** History and plan make a deployment large, and no lookup needs them. */
function dependenciesOnly(object: KubernetesObject): BundleDeployment {
  const { apiVersion, kind, metadata, spec } = object as BundleDeployment;
  const { name, uid, resourceVersion } = metadata;
  const kept = { name, uid, resourceVersion } as BundleDeployment['metadata'];
  const { dependsOn } = spec;
  return { apiVersion, kind, metadata: kept, spec: { dependsOn } as BundleDeployment['spec'] };
}
