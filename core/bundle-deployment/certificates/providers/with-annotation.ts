import type { KubernetesObject } from '../../../../api/meta.ts';

export function withAnnotation(
  object: KubernetesObject,
  key: string,
  value: string,
): KubernetesObject {
  const annotations = { ...object.metadata.annotations, [key]: value };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
