import { annotation } from '../../../api/v1alpha1/labels.ts';
import { hashObject, type JsonObject, type KubernetesObject } from '../../../core/sdk.ts';
import type { WebhookDefinition } from '../bundle/cluster-service-version.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Installation } from '../installation.ts';
import { caSource, serviceName } from '../serving.ts';

/** A MutatingWebhookConfiguration per definition of that type. */
export function mutatingWebhooks(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return bundle.csv.webhookDefinitions
    .filter(({ type }) => type === 'MutatingAdmissionWebhook')
    .map((definition) => ({
      ...configuration('MutatingWebhookConfiguration', definition, { bundle, installation }),
      webhooks: [webhook(definition, installation)],
    }));
}

/** A ValidatingWebhookConfiguration per definition of that type. */
export function validatingWebhooks(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return bundle.csv.webhookDefinitions
    .filter(({ type }) => type === 'ValidatingAdmissionWebhook')
    .map((definition) => {
      // The API has this field only for mutating webhooks, and OLM drops it here.
      const { reinvocationPolicy: _, ...fields } = definition.fields;
      return {
        ...configuration('ValidatingWebhookConfiguration', definition, { bundle, installation }),
        webhooks: [webhook({ ...definition, fields }, installation)],
      };
    });
}

/** A separate configuration for each webhook, as in OLM. */
function configuration(
  kind: string,
  definition: WebhookDefinition,
  { bundle, installation }: { bundle: RegistryBundle; installation: Installation },
): KubernetesObject {
  const { generateName, deploymentName } = definition;
  const { installNamespace } = installation;
  const { packageName } = bundle;
  // OLM lets the API server add five characters, because many operators use equal names
  // (`mpod.kb.io`). These five are the same for every rendering and every version of the package.
  const suffix = hashObject({ packageName, installNamespace }).slice(0, 5);
  const labels = labelValue.test(generateName)
    ? { labels: { 'olm.webhook-description-generate-name': generateName } }
    : {};
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name: `${webhookName(definition)}-${suffix}`,
      // Labels by which OLM, and operators themselves, find the webhooks.
      ...labels,
      annotations: { [annotation.injectCaFrom]: caSource(deploymentName, installNamespace) },
    },
  };
}

const labelValue = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** The name of a webhook in messages of the API server. */
export function webhookName({ generateName }: WebhookDefinition): string {
  return generateName.endsWith('-') ? generateName.slice(0, -1) : generateName;
}

/** The Service that the API server calls. */
export function webhookService(definition: WebhookDefinition, namespace: string): JsonObject {
  const { deploymentName, webhookPath, containerPort } = definition;
  return {
    namespace,
    name: serviceName(deploymentName),
    ...(webhookPath === undefined ? {} : { path: webhookPath }),
    port: containerPort,
  };
}

function webhook(definition: WebhookDefinition, installation: Installation): JsonObject {
  return {
    name: webhookName(definition),
    ...definition.fields,
    clientConfig: { service: webhookService(definition, installation.installNamespace) },
    ...namespaceSelector(installation),
  };
}

/**
 * Excludes namespaces that the operator does not watch; cluster-scoped objects are always included.
 */
function namespaceSelector({ targetNamespaces }: Installation): JsonObject {
  if (targetNamespaces.length === 0 || targetNamespaces.includes('')) return {};
  const key = 'kubernetes.io/metadata.name';
  return {
    namespaceSelector: {
      matchExpressions: [{ key, operator: 'In', values: targetNamespaces }],
    },
  };
}
