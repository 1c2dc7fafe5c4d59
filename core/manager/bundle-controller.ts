import { type Bundle, bundleResource } from '../../api/v1alpha1/index.ts';
import { BundleReconciler } from '../bundle/index.ts';
import { Controller } from '../platform/runtime/index.ts';
import type { UnpackingZone } from './content/unpacking-zone.ts';
import type { ControllerParts } from './deployment-controller.ts';
import { configMapIndex, SelfWriteCache } from './kinds/kinds.ts';
import { tellingUnserved, UnservedObjects } from './kinds/unserved.ts';
import type { ManagerSettings } from './settings.ts';

/** The controller of Bundles, woken by their cache and by the ConfigMaps of their content. */
export function createBundleController(
  options: ManagerSettings,
  parts: ControllerParts,
  unpacking: UnpackingZone,
): Controller {
  const { kube, kinds, events, metrics, clock } = parts;
  const { logger, mindsUnserved } = options;
  const cache = new SelfWriteCache<Bundle>(kinds.bundles);
  const { client } = kube;
  const { provisioners: classes } = unpacking.dependencies;
  const kind = { client, resource: bundleResource, classes, events, clock };
  const unserved = mindsUnserved ? new UnservedObjects(kind) : undefined;
  const reconciler = new BundleReconciler({
    ...unpacking.dependencies,
    unserved,
    client,
    cache,
    events,
  });
  const controller = new Controller({
    name: 'bundle',
    kind: 'Bundle',
    // A waiting Bundle costs almost nothing, and must not delay a deletion; slots limit the rest.
    workers: Number.POSITIVE_INFINITY,
    creatorOf: (name) => {
      const bundle = cache.get({ name });
      return bundle === undefined ? '' : unpacking.dependencies.creatorOf(bundle);
    },
    reconcile: tellingUnserved(unserved, cache, reconciler),
    clock,
    logger,
    metrics,
  });
  kinds.bundles.onChange(({ type, object }) => {
    const { name = '', deletionTimestamp } = object.metadata;
    if (type !== 'deleted' && !cache.isSelfWrite) controller.enqueue(name);
    if (type === 'deleted' || deletionTimestamp !== undefined) reconciler.abandon(name);
  });
  unpacking.space?.onRoom((name) => controller.enqueue(name));
  kinds.configMaps.onChange(({ object }) => {
    const readers = kinds.bundles.byIndex(configMapIndex, object.metadata.name ?? '');
    for (const { metadata } of readers) controller.enqueue(metadata.name ?? '');
  });
  return controller;
}
