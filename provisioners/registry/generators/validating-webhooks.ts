import type { KubernetesObject } from '../../../core/sdk.ts';
import type { WebhookDefinition } from '../csv/webhook-definition.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { webhookConfiguration } from '../webhooks/webhook-configuration.ts';

/** A ValidatingWebhookConfiguration per definition of that type. */
export function validatingWebhooks(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return bundle.csv.webhookDefinitions
    .filter(({ type }) => type === 'ValidatingAdmissionWebhook')
    .map((definition) =>
      webhookConfiguration('ValidatingWebhookConfiguration', validating(definition), {
        bundle,
        installation,
      }),
    );
}

// Only mutating webhooks are ever asked again: the API has no such field here, and OLM drops it.
function validating(definition: WebhookDefinition): WebhookDefinition {
  const { reinvocationPolicy: _, ...fields } = definition.fields;
  return { ...definition, fields };
}
