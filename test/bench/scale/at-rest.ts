import { setTimeout as delay } from 'node:timers/promises';
import { bundleDeploymentResource as resource } from '../../../api/v1alpha1/resources.ts';
import { inParallel } from './in-parallel.ts';
import { measurePhase, type Outcome, type Scale } from './phase.ts';

const minute = 60_000;

/** A minute in which nothing happens. */
export async function idle(scale: Scale): Promise<Outcome> {
  return await measurePhase(scale, async (signal) => {
    await delay(minute, undefined, { signal });
    return {};
  });
}

/** Reconciles every deployment once more, without changes. */
export async function resync(scale: Scale): Promise<Outcome> {
  const { kube, apps } = scale;
  return await measurePhase(scale, async (signal) => {
    const patch = { metadata: { annotations: { 'example.com/touched': `${Date.now()}` } } };
    await inParallel(apps, (name) =>
      kube.client.patch({ resource, key: { name } }, patch, { type: 'merge', signal }),
    );
    return {};
  });
}
