import { setTimeout as delay } from 'node:timers/promises';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { rounded } from '../report.ts';
import { installedSelector } from './apps.ts';
import { inParallel } from './in-parallel.ts';
import { appResources } from './kinds.ts';
import { measurePhase, type Outcome, type Scale } from './phase.ts';

/** Deletes all deployments at once, and waits until the last object of theirs is gone. */
export async function remove(scale: Scale): Promise<Outcome> {
  return await measurePhase(scale, async (signal) => {
    const start = performance.now();
    await deleteAll(scale, signal);
    const ours = performance.now() - start;
    while (await areLeft(scale)) await delay(200, undefined, { signal });
    return {
      's to delete': rounded(ours / 1000, 2),
      's to all': rounded((performance.now() - start) / 1000, 2),
    };
  });
}

async function deleteAll({ kube, apps }: Scale, signal: AbortSignal): Promise<void> {
  const propagationPolicy = 'Background';
  await inParallel(apps, (name) =>
    kube.client.delete(bundleDeploymentResource, { name }, { propagationPolicy, signal }),
  );
}

/** Bundles have the label too. */
async function areLeft({ kube, watch }: Scale): Promise<boolean> {
  if (watch.count > 0) return true;
  for (const resource of [bundleResource, ...appResources]) {
    const options = { limit: 1, labelSelector: installedSelector };
    if ((await kube.client.list(resource, options)).items.length > 0) return true;
  }
  return false;
}
