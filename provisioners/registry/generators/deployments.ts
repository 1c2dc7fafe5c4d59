import type { KubernetesObject } from '../../../core/sdk.ts';
import type { StrategyDeployment } from '../csv/cluster-service-version.ts';
import type { Installation } from '../installation/installation.ts';
import { deploymentSteps } from '../pod-template/index.ts';
import { targetNamespacesKey } from '../pod-template/target-namespaces.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/**
 * The CSV's deployments: annotations of CSV and pods on the Deployment, pod templates as
 * written but for what operators are given at run time.
 */
export function deployments(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const { installNamespace, targetNamespaces, overrides } = installation;
  return bundle.csv.deployments.map((deployment) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: deployment.name,
      namespace: installNamespace,
      ...labelsOf(deployment),
      annotations: {
        // First, because what the bundle says itself wins, as in OLM.
        ...overrides.annotations,
        ...bundle.csv.annotations,
        ...deployment.podAnnotations,
        [targetNamespacesKey]: targetNamespaces.join(','),
      },
    },
    ...specOf(deployment, bundle, installation),
  }));
}

function specOf(
  deployment: StrategyDeployment,
  bundle: RegistryBundle,
  installation: Installation,
): Partial<KubernetesObject> {
  if (deployment.spec === undefined) return {};
  const context = { deployment, bundle, installation };
  const spec = deploymentSteps.reduce((changed, step) => step(changed, context), deployment.spec);
  return { spec };
}

function labelsOf({ labels }: StrategyDeployment): Pick<KubernetesObject['metadata'], 'labels'> {
  return Object.keys(labels).length === 0 ? {} : { labels };
}
