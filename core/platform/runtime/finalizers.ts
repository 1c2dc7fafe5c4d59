import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import { type KubeClient, keyOf, type Resource, unlessNotFound } from '../kube/index.ts';

interface FinalizerTarget {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** Metadata to write together with the finalizers. */
  readonly metadata?: Pick<ObjectMeta, 'annotations'>;
  readonly signal: AbortSignal;
}

/**
 * The object with the finalizer, or undefined when it has it already.
 * @throws ApiError with a conflict when the object has changed since it was read.
 */
export async function addFinalizer(
  target: FinalizerTarget,
  object: KubernetesObject,
  finalizer: string,
): Promise<KubernetesObject | undefined> {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return undefined;
  return await writeFinalizers(target, object, [...finalizers, finalizer]);
}

/** The object without the finalizer, or undefined when it had none or is deleted. */
export async function removeFinalizer(
  target: FinalizerTarget,
  object: KubernetesObject,
  finalizer: string,
): Promise<KubernetesObject | undefined> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return undefined;
  const left = finalizers.filter((other) => other !== finalizer);
  return await unlessNotFound(writeFinalizers(target, object, left));
}

async function writeFinalizers(
  { client, resource, metadata, signal }: FinalizerTarget,
  object: KubernetesObject,
  finalizers: readonly string[],
): Promise<KubernetesObject> {
  const { uid, resourceVersion } = object.metadata;
  const patch = { metadata: { ...metadata, uid, resourceVersion, finalizers } };
  return await client.patch({ resource, key: keyOf(object) }, patch, { type: 'merge', signal });
}
