import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import type { StrategyDeployment } from '../csv/cluster-service-version.ts';
import type { Installation } from '../installation/installation.ts';
import { objectName } from '../objects/object-name.ts';
import { isMap, itemsOf } from '../pod-template/template-parts.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { type ServedPort, servedPorts } from '../webhooks/served-ports.ts';
import { secretName, serviceName } from '../webhooks/serving-names.ts';

/**
 * A Service in front of each deployment that serves webhooks or APIs, with a certificate for it. One
 * of the bundle's own by the same name gets what is missing, since the API server calls this one.
 */
export function services(
  bundle: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  return bundle.csv.deployments.flatMap((deployment) => {
    const ports = servedPorts(bundle.csv, deployment.name);
    if (ports.length === 0) return [];
    const name = serviceName(deployment.name);
    const own = bundle.others.find((each) => isService(each) && objectName(each) === name);
    return [service(deployment, ports, { name, namespace: installNamespace, own })];
  });
}

interface Identity {
  readonly name: string;
  readonly namespace: string;
  readonly own: KubernetesObject | undefined;
}

function service(
  deployment: StrategyDeployment,
  ports: readonly ServedPort[],
  { name, namespace, own }: Identity,
): KubernetesObject {
  const ownSpec = mapOf(own?.['spec']);
  return {
    ...own,
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...own?.metadata,
      name,
      namespace,
      annotations: {
        ...own?.metadata.annotations,
        [annotation.servingCertificate]: secretName(deployment.name),
      },
    },
    spec: {
      ...ownSpec,
      ports: [...ports.map(servicePort), ...otherPorts(ownSpec['ports'], ports)],
      ...selectorOf(deployment),
    },
  };
}

// Named by its number, as OLM does.
function servicePort({ port, targetPort }: ServedPort): JsonObject {
  return { name: String(port), port, targetPort };
}

/** The bundle's own ports beside those that are served; with several of them each has to have a name. */
function otherPorts(
  written: JsonValue | undefined,
  served: readonly ServedPort[],
): readonly JsonValue[] {
  const numbers = new Set<JsonValue | undefined>(served.map(({ port }) => port));
  return itemsOf(written)
    .filter(isMap)
    .filter(({ port }) => !numbers.has(port))
    .map((port, index) => ({ name: `own-${index + 1}`, ...port }));
}

/** The deployment's own, so that the Service leads to its pods and to no others. */
function selectorOf({ spec }: StrategyDeployment): JsonObject {
  const { matchLabels } = mapOf(mapOf(spec)['selector']);
  return matchLabels === undefined ? {} : { selector: matchLabels };
}

function mapOf(value: unknown): JsonObject {
  return isMap(value as JsonValue | undefined) ? (value as JsonObject) : {};
}

function isService({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === 'v1' && kind === 'Service';
}
