import type { KubernetesObject } from '../../../core/sdk.ts';

/** The object with more annotations. */
export function annotated(
  object: KubernetesObject,
  annotations: Readonly<Record<string, string>>,
): KubernetesObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
  };
}
