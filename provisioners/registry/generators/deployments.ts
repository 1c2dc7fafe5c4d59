import type { KubernetesObject } from '../../../core/sdk.ts';
import type { StrategyDeployment } from '../csv/cluster-service-version.ts';
import type { Installation } from '../installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** The CSV's deployments: pod templates as written, annotations on the Deployment (spec 9.5). */
export function deployments(
  { csv }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  return csv.deployments.map((deployment) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: deployment.name,
      namespace: installNamespace,
      ...labelsOf(deployment),
      annotations: {
        ...csv.annotations,
        ...deployment.podAnnotations,
        'olm.targetNamespaces': '',
      },
    },
    ...(deployment.spec === undefined ? {} : { spec: deployment.spec }),
  }));
}

function labelsOf({ labels }: StrategyDeployment): Pick<KubernetesObject['metadata'], 'labels'> {
  return Object.keys(labels).length === 0 ? {} : { labels };
}
