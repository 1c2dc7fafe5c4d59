import type { RegistryBundle } from '../registry-bundle.ts';

/** Nothing serves webhook certificates, admission or conversion (spec section 9.4). */
export function noWebhooks({ csv }: RegistryBundle): string | undefined {
  return csv.webhookDefinitions.length > 0 ? 'webhookDefinitions are not supported' : undefined;
}
