import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import {
  bundleDeploymentResource,
  bundleResource,
  generatedFor,
} from '../../api/v1alpha1/index.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../contracts/logger.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { Reflector } from '../kube/reflector.ts';
import { IndexedCache } from '../runtime/indexed-cache.ts';
import type { Runnable } from '../runtime/manager.ts';
import { reflectorRunnable } from '../runtime/reflector-runnable.ts';

/** The two kinds as watch caches hold them. */
export interface Kinds {
  readonly bundles: IndexedCache<Bundle>;
  readonly deployments: IndexedCache<BundleDeployment>;
  /** Keep the caches equal to the API server; ready when they are for the first time. */
  readonly reflectors: readonly Runnable[];
  /** Throws with the reason where a cache is not filled yet. */
  checkSynced(): void;
}

/** Index of Bundles by the BundleDeployment that they were made for. */
export const ownerIndex = 'owner';

export function watchKinds(options: {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
}): Kinds {
  const bundles = new IndexedCache<Bundle>({ [ownerIndex]: (bundle) => ownerOf(bundle) });
  const deployments = new IndexedCache<BundleDeployment>();
  const reflectors = [
    new Reflector<Bundle>({ ...options, resource: bundleResource, sink: bundles }),
    new Reflector<BundleDeployment>({
      ...options,
      resource: bundleDeploymentResource,
      sink: deployments,
    }),
  ];
  return {
    bundles,
    deployments,
    reflectors: reflectors.map((reflector) => reflectorRunnable('reflector', reflector)),
    checkSynced() {
      for (const { synced, lastError } of reflectors) {
        if (!synced) throw new Error(lastError?.message ?? 'the first list is under way');
      }
    },
  };
}

/** The owner's name, as a list of one, or none for a Bundle that no deployment generated. */
export function ownerOf(bundle: Bundle): readonly string[] {
  const owner = generatedFor(bundle);
  return owner === undefined ? [] : [owner];
}
