import type { KubernetesObject } from '../../../api/meta.ts';

const metadata = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

/** What asks the API server for objects without anything but their metadata. */
export const acceptMetadata = {
  list: metadata('PartialObjectMetadataList'),
  watch: metadata('PartialObjectMetadata'),
} as const;

/** Which version of which object, of an object of which no more is of interest. */
export function versionOnly({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  const kept = { name, namespace, uid, resourceVersion } as KubernetesObject['metadata'];
  return { apiVersion, kind, metadata: kept };
}
