import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { anApp } from './apps.ts';
import { inParallel } from './in-parallel.ts';
import { expectInstalled } from './installed.ts';
import { measurePhase, type Outcome, type Scale, untilInstalled } from './phase.ts';

/** Creates all deployments at once, and waits until all are installed. */
export async function install(scale: Scale): Promise<Outcome> {
  const outcome = await measurePhase(scale, (signal) => {
    const start = (): Promise<void> => createApps(scale, signal);
    return untilInstalled(scale, 1, { start, signal });
  });
  await expectInstalled(scale, 1);
  return outcome;
}

/** Creates them without waiting for anything. */
export async function createApps(
  { kube, cluster, apps }: Pick<Scale, 'kube' | 'cluster' | 'apps'>,
  signal: AbortSignal,
): Promise<void> {
  const content = { registry: cluster.registry, version: 1 };
  await inParallel(apps, (name) =>
    kube.client.create(bundleDeploymentResource, anApp(name, content) as KubernetesObject, signal),
  );
}
