import { bundleDeploymentResource as resource } from '../../../api/v1alpha1/resources.ts';
import { sourceOf } from './apps.ts';
import { inParallel } from './in-parallel.ts';
import { expectInstalled } from './installed.ts';
import { measurePhase, type Outcome, type Scale, untilInstalled } from './phase.ts';

/** Gives all deployments a new image at once, and waits until all are installed again. */
export async function update(scale: Scale): Promise<Outcome> {
  const outcome = await measurePhase(scale, (signal) => {
    const start = (): Promise<void> => changeApps(scale, signal);
    return untilInstalled(scale, 2, { start, signal });
  });
  await expectInstalled(scale, 2);
  return outcome;
}

async function changeApps({ kube, cluster, apps }: Scale, signal: AbortSignal): Promise<void> {
  const content = { registry: cluster.registry, version: 2 };
  await inParallel(apps, (name) => {
    const patch = { spec: { template: { spec: { source: sourceOf(name, content) } } } };
    return kube.client.patch({ resource, key: { name } }, patch, { type: 'merge', signal });
  });
}
