import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';

interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly owner: OwnerReference;
}

/** An object as it stands in a release's manifest: with RukPak's marks, without Helm's. */
export function renderedObject(
  object: KubernetesObject,
  { name, owner }: Release,
): KubernetesObject {
  const { labels, annotations } = object.metadata;
  const marks = {
    ...labels,
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': name,
  };
  const metadata = { ...object.metadata, labels: marks };
  if (annotations?.['helm.sh/resource-policy'] !== 'keep') {
    return { ...object, metadata: { ...metadata, ownerReferences: [owner] } };
  }
  const primary = {
    ...annotations,
    'operator-sdk/primary-resource': `/${name}`,
    'operator-sdk/primary-resource-type': 'BundleDeployment.core.rukpak.io',
  };
  return { ...object, metadata: { ...metadata, annotations: primary } };
}

/** An object as Helm's client sends it to the API server. */
export function sentObject(object: KubernetesObject, release: Release): KubernetesObject {
  const rendered = renderedObject(object, release);
  const { labels, annotations } = rendered.metadata;
  const metadata = {
    ...rendered.metadata,
    labels: { ...labels, 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      ...annotations,
      'meta.helm.sh/release-name': release.name,
      'meta.helm.sh/release-namespace': release.namespace,
    },
  };
  return { ...rendered, metadata };
}
