import { setTimeout as delay } from 'node:timers/promises';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { rounded } from '../report.ts';
import { installedSelector } from './apps.ts';
import { inParallel } from './in-parallel.ts';
import { appResources } from './kinds.ts';
import { measurePhase, type Outcome, type Scale } from './phase.ts';

type Apps = Pick<Scale, 'kube' | 'apps'>;

/** Deletes all deployments at once, and waits until all their objects are gone. */
export async function remove(scale: Scale): Promise<Outcome> {
  return await measurePhase(scale, async (signal) => {
    const start = performance.now();
    await deleteApps(scale, signal);
    const deleted = performance.now() - start;
    await untilNoneIsLeft(scale, signal);
    return {
      's to apply': rounded(deleted / 1000, 2),
      's to all': rounded((performance.now() - start) / 1000, 2),
    };
  });
}

export async function deleteApps({ kube, apps }: Apps, signal: AbortSignal): Promise<void> {
  const propagationPolicy = 'Background';
  await inParallel(apps, (name) =>
    kube.client.delete(bundleDeploymentResource, { name }, { propagationPolicy, signal }),
  );
}

export async function untilNoneIsLeft(
  { kube }: Pick<Apps, 'kube'>,
  signal: AbortSignal,
): Promise<void> {
  while (await areLeft(kube)) await delay(200, undefined, { signal });
}

/** Bundles have the label too, deployments themselves have not. */
async function areLeft({ client }: Apps['kube']): Promise<boolean> {
  if ((await client.list(bundleDeploymentResource, { limit: 1 })).items.length > 0) return true;
  for (const resource of [bundleResource, ...appResources]) {
    const options = { limit: 1, labelSelector: installedSelector };
    if ((await client.list(resource, options)).items.length > 0) return true;
  }
  return false;
}
