import { annotation } from '../../../api/v1alpha1/labels.ts';
import { hashObject, type JsonObject, type KubernetesObject } from '../../../core/sdk.ts';
import type { WebhookDefinition } from '../csv/webhook-definition.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { caSource, serviceName } from './serving-names.ts';

/** The two kinds of object that bring admission webhooks to the API server. */
export type WebhookConfigurationKind =
  | 'MutatingWebhookConfiguration'
  | 'ValidatingWebhookConfiguration';

/** A configuration of its own for a definition, with that one webhook, as OLM makes them. */
export function webhookConfiguration(
  kind: WebhookConfigurationKind,
  definition: WebhookDefinition,
  context: { readonly bundle: RegistryBundle; readonly installation: Installation },
): KubernetesObject {
  const { installNamespace } = context.installation;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name: configurationName(definition, context),
      ...labelsOf(definition),
      annotations: {
        [annotation.injectCaFrom]: caSource(definition.deploymentName, installNamespace),
      },
    },
    webhooks: [webhook(definition, context.installation)],
  };
}

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

const suffixLength = 5;

/**
 * OLM lets the API server add five characters, since many operators name their webhooks alike
 * (`mpod.kb.io`). These are the same at every rendering and every version of the package.
 */
function configurationName(
  definition: WebhookDefinition,
  {
    bundle,
    installation,
  }: { readonly bundle: RegistryBundle; readonly installation: Installation },
): string {
  const hash = hashObject({
    packageName: bundle.packageName,
    installNamespace: installation.installNamespace,
  });
  return `${webhookName(definition)}-${hash.slice(0, suffixLength)}`;
}

const labelValue = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** By which OLM, and operators that look for their own webhooks, find them. */
function labelsOf({
  generateName,
}: WebhookDefinition): Pick<KubernetesObject['metadata'], 'labels'> {
  if (!labelValue.test(generateName)) return {};
  return { labels: { 'olm.webhook-description-generate-name': generateName } };
}
