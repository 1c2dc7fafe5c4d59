import type { RegistryBundle } from '../registry-bundle.ts';
import { isAdmissionWebhook } from '../webhooks/admission-webhook.ts';
import { webhookName } from '../webhooks/webhook-configuration.ts';

/** Of two webhooks with one type and name only one would be there. */
export function uniqueWebhooks({ csv }: RegistryBundle): string | undefined {
  const seen = new Set<string>();
  for (const webhook of csv.webhookDefinitions.filter(isAdmissionWebhook)) {
    const identity = `${webhook.type} ${webhookName(webhook)}`;
    if (seen.has(identity)) {
      return `duplicate webhook '${webhook.generateName}' of type '${webhook.type}'; give each its own generateName in the CSV's webhookdefinitions`;
    }
    seen.add(identity);
  }
  return undefined;
}
