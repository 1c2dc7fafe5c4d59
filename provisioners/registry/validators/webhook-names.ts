import type { RegistryBundle } from '../registry-bundle.ts';
import { isAdmissionWebhook } from '../webhooks/admission-webhook.ts';
import { webhookName } from '../webhooks/webhook-configuration.ts';

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const threeLabels = new RegExp(`^${label}(?:\\.${label}){2,}$`);
// A configuration's name has six characters more.
const maxLength = 253 - 6;

/** The API server takes no other names; nobody sees that of a conversion webhook. */
export function webhookNames({ csv }: RegistryBundle): string | undefined {
  for (const webhook of csv.webhookDefinitions.filter(isAdmissionWebhook)) {
    const name = webhookName(webhook);
    if (threeLabels.test(name) && name.length <= maxLength) continue;
    return `webhook of type '${webhook.type}' has invalid name '${webhook.generateName}': it must be three or more parts of lower case letters, digits and '-', joined by dots, with at most ${maxLength} characters (such as 'vpod.example.com'); correct generateName in the CSV's webhookdefinitions`;
  }
  return undefined;
}
