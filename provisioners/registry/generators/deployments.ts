import type { ClusterProxy, JsonObject, KubernetesObject } from '../../../core/sdk.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { NamedItem } from '../deployment-overrides.ts';
import type { Installation } from '../installation.ts';
import { withCertificateMounts } from './certificate-mounts.ts';
import { overrideSteps } from './overrides.ts';
import {
  type DeploymentStep,
  type StepContext,
  withEnvironment,
  withPodAnnotations,
} from './pod-template.ts';

/** The annotation with the watched namespaces, which operators also read by a fieldRef. */
const targetNamespacesKey = 'olm.targetNamespaces';

/**
 * The CSV's deployments: annotations of CSV and pods on the Deployment, and pod templates as
 * written, with the additions of OLM at run time.
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
      ...(Object.keys(deployment.labels).length === 0 ? {} : { labels: deployment.labels }),
      annotations: {
        // First, because the bundle's own annotations have priority, as in OLM.
        ...overrides.annotations,
        ...bundle.csv.annotations,
        ...deployment.podAnnotations,
        [targetNamespacesKey]: targetNamespaces.join(','),
      },
    },
    ...(deployment.spec === undefined
      ? {}
      : { spec: completeSpec(deployment.spec, { deployment, bundle, installation }) }),
  }));
}

/** OLM's additions at run time, in its order: later steps see earlier additions. */
const deploymentSteps: readonly DeploymentStep[] = [
  withTargetNamespaces,
  withCertificateMounts,
  ...overrideSteps,
  withProxy,
];

function completeSpec(spec: JsonObject, context: StepContext): JsonObject {
  return deploymentSteps.reduce((changed, step) => step(changed, context), spec);
}

/** Writes the watched namespaces onto the pods, and not only onto their Deployment as in v0.16. */
function withTargetNamespaces(spec: JsonObject, { installation }: StepContext): JsonObject {
  const value = installation.targetNamespaces.join(',');
  return withPodAnnotations(spec, (written) => ({ ...written, [targetNamespacesKey]: value }));
}

const proxyVariables: readonly (readonly [string, keyof ClusterProxy])[] = [
  ['HTTP_PROXY', 'httpProxy'],
  ['HTTPS_PROXY', 'httpsProxy'],
  ['NO_PROXY', 'noProxy'],
];

/**
 * Sets the cluster's proxies in every container, replacing those of the CSV. A spec.config that
 * sets one of the variables replaces all of them, as in OLM: the user may want no proxy.
 */
function withProxy(spec: JsonObject, { installation }: StepContext): JsonObject {
  const { overrides, cluster } = installation;
  const names = proxyVariables.map(([name]) => name);
  if (overrides.env?.some(({ name }) => names.includes(name)) === true) return spec;
  const set = proxyVariables.flatMap(([name, field]): readonly NamedItem[] => {
    const value = cluster?.proxy?.[field] ?? '';
    return value === '' ? [] : [{ name, value }];
  });
  return withEnvironment(spec, set);
}
