import type { KubernetesObject } from '../../../api/meta.ts';
import { isNotFound } from './api-error.ts';
import type { KubeClient } from './kube-client.ts';
import type { ObjectKey, Resource } from './resource.ts';

/** An object, or undefined where there is none. */
export async function liveObject(
  client: Pick<KubeClient, 'get'>,
  { resource, key }: { readonly resource: Resource; readonly key: ObjectKey },
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  try {
    return await client.get(resource, key, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
