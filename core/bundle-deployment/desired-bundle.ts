import type { OwnerReference } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import { bundleName } from '../../api/v1alpha1/template-hash.ts';

/** The Bundle that a deployment's template asks for. */
export function desiredBundle(deployment: BundleDeployment, hash: string): Bundle {
  const { name = '' } = deployment.metadata;
  const { metadata, spec } = deployment.spec.template;
  const { [label.partOf]: _, ...labels } = metadata?.labels ?? {};
  const {
    [annotation.configured]: __,
    [annotation.pin]: ___,
    ...annotations
  } = metadata?.annotations ?? {};
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: {
      name: bundleName(name, hash),
      labels: {
        ...labels,
        [label.ownerKind]: 'BundleDeployment',
        [label.ownerName]: name,
        [label.templateHash]: hash,
      },
      ...(metadata?.annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReferenceTo(deployment)],
    },
    spec,
  };
}

export function ownerReferenceTo({ metadata }: BundleDeployment): OwnerReference {
  const { name = '', uid = '' } = metadata;
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
