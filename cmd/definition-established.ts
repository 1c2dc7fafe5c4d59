import { setTimeout as delay } from 'node:timers/promises';
import type { Condition } from '../api/meta.ts';
import type { KubeClient, Resource } from '../core/platform/kube/index.ts';

/** A moment, but for an API server with much to do; milliseconds. */
const establishTimeout = 180_000;
const pollInterval = 100;

/** Waits until the API server accepts objects of a CRD. @throws Error after three minutes. */
export async function definitionEstablished(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  name: string,
): Promise<void> {
  const deadline = Date.now() + establishTimeout;
  for (;;) {
    const live = await client.get(resource, { name });
    // The conditions of a CRD begin as null.
    const { conditions } = (live['status'] ?? {}) as { conditions?: readonly Condition[] | null };
    if (conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    if (Date.now() > deadline) {
      throw new Error(
        `customresourcedefinition.apiextensions.k8s.io/${name} is not established after ${establishTimeout / 1000} s: see its conditions`,
      );
    }
    await delay(pollInterval);
  }
}
