import { objectName } from '../objects/object-name.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { isConversionWebhook } from '../webhooks/admission-webhook.ts';

/** A conversion webhook converts CRDs that the bundle brings, since nothing else is its to change. */
export function conversionOfOwnCrds({ csv, crds }: RegistryBundle): string | undefined {
  const own = new Set(crds.map(objectName));
  for (const { generateName, conversionCrds } of csv.webhookDefinitions.filter(
    isConversionWebhook,
  )) {
    const foreign = conversionCrds.find((name) => !own.has(name));
    if (foreign === undefined) continue;
    return `conversion webhook '${generateName}' references custom resource definition '${foreign}' not owned bundle; add the CRD to the bundle's manifests or take it out of conversionCRDs in the CSV's webhookdefinitions`;
  }
  return undefined;
}
