import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { webhookConfiguration } from '../webhooks/webhook-configuration.ts';

/** A MutatingWebhookConfiguration per definition of that type. */
export function mutatingWebhooks(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return bundle.csv.webhookDefinitions
    .filter(({ type }) => type === 'MutatingAdmissionWebhook')
    .map((definition) =>
      webhookConfiguration('MutatingWebhookConfiguration', definition, { bundle, installation }),
    );
}
