import type { RegistryBundle } from '../registry-bundle.ts';

const types = ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook', 'ConversionWebhook'];

/** Of another type nobody knows what to make. */
export function knownWebhookTypes({ csv }: RegistryBundle): string | undefined {
  const unknown = csv.webhookDefinitions.find(({ type }) => !types.includes(type));
  if (unknown === undefined) return undefined;
  return `webhook '${unknown.generateName}' has unknown type '${unknown.type}'; correct type in the CSV's webhookdefinitions to ${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
}
