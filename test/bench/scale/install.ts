import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { rounded } from '../report.ts';
import { anApp } from './apps.ts';
import { inParallel } from './in-parallel.ts';
import { expectInstalled } from './installed.ts';
import { installTimes, measurePhase, type Outcome, type Scale } from './phase.ts';

/** Creates all deployments at once, and waits until all are installed. */
export async function install(scale: Scale): Promise<Outcome> {
  const { kube, cluster, apps, watch } = scale;
  const content = { registry: cluster.registry, version: 1 };
  const outcome = await measurePhase(scale, async (signal) => {
    const start = performance.now();
    await inParallel(apps, (name) =>
      kube.client.create(
        bundleDeploymentResource,
        anApp(name, content) as KubernetesObject,
        signal,
      ),
    );
    const applied = performance.now() - start;
    await watch.until(() => watch.healthy().length === apps.length, signal);
    return { 's to apply': rounded(applied / 1000, 2), ...installTimes(scale, start) };
  });
  await expectInstalled(scale, 1);
  return outcome;
}
