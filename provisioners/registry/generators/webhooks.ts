import { annotation } from '../../../api/v1alpha1/labels.ts';
import { hashObject, type JsonObject, type KubernetesObject } from '../../../core/sdk.ts';
import type { WebhookDefinition } from '../cluster-service-version.ts';
import type { Installation } from '../installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
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
      // Only mutating webhooks are asked again: the API has no such field here, and OLM drops it.
      const { reinvocationPolicy: _, ...fields } = definition.fields;
      return {
        ...configuration('ValidatingWebhookConfiguration', definition, { bundle, installation }),
        webhooks: [webhook({ ...definition, fields }, installation)],
      };
    });
}

/** A configuration of its own for each webhook, as OLM makes them. */
function configuration(
  kind: string,
  definition: WebhookDefinition,
  { bundle, installation }: { bundle: RegistryBundle; installation: Installation },
): KubernetesObject {
  const { generateName, deploymentName } = definition;
  const { installNamespace } = installation;
  const { packageName } = bundle;
  // OLM lets the API server add five characters, since many operators name their webhooks alike
  // (`mpod.kb.io`). These are the same at every rendering and every version of the package.
  const suffix = hashObject({ packageName, installNamespace }).slice(0, 5);
  const labels = labelValue.test(generateName)
    ? { labels: { 'olm.webhook-description-generate-name': generateName } }
    : {};
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name: `${webhookName(definition)}-${suffix}`,
      // By which OLM, and operators that look for their own webhooks, find them.
      ...labels,
      annotations: { [annotation.injectCaFrom]: caSource(deploymentName, installNamespace) },
    },
  };
}

const labelValue = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** The name that a webhook goes by in messages of the API server. */
export function webhookName({ generateName }: WebhookDefinition): string {
  return generateName.endsWith('-') ? generateName.slice(0, -1) : generateName;
}

/** Where the API server is to send what it asks. */
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

/** Others' namespaces are none of the operator's business; cluster-scoped objects are always asked. */
function namespaceSelector({ targetNamespaces }: Installation): JsonObject {
  if (targetNamespaces.length === 0 || targetNamespaces.includes('')) return {};
  const key = 'kubernetes.io/metadata.name';
  return {
    namespaceSelector: {
      matchExpressions: [{ key, operator: 'In', values: targetNamespaces }],
    },
  };
}
