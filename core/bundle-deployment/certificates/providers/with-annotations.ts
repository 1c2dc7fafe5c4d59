import type { KubernetesObject } from '../../../../api/meta.ts';

export type Annotations = Readonly<Record<string, string>>;

/** The very object where nothing is added. */
export function withAnnotations(object: KubernetesObject, added: Annotations): KubernetesObject {
  if (Object.keys(added).length === 0) return object;
  const annotations = { ...object.metadata.annotations, ...added };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
