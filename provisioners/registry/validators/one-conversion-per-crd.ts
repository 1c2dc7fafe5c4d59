import type { RegistryBundle } from '../registry-bundle.ts';
import { isConversionWebhook } from '../webhooks/admission-webhook.ts';

/** A CRD has one place where it is converted. */
export function oneConversionPerCrd({ csv }: RegistryBundle): string | undefined {
  const webhooks = new Map<string, string[]>();
  for (const { generateName, conversionCrds } of csv.webhookDefinitions.filter(
    isConversionWebhook,
  )) {
    for (const crd of new Set(conversionCrds)) {
      webhooks.set(crd, [...(webhooks.get(crd) ?? []), generateName]);
    }
  }
  const shared = [...webhooks].find(([, names]) => names.length > 1);
  if (shared === undefined) return undefined;
  const [crd, names] = shared;
  return `conversion webhooks [${names.toSorted().join(',')}] reference same custom resource definition '${crd}'; leave it in conversionCRDs of one of them in the CSV's webhookdefinitions`;
}
