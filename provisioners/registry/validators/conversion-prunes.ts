import type { JsonValue } from '../../../core/sdk.ts';
import { objectName } from '../objects/object-name.ts';
import { isMap } from '../pod-template/template-parts.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { isConversionWebhook } from '../webhooks/admission-webhook.ts';

/** The API server has nobody convert what it does not know the fields of. */
export function conversionPrunes({ csv, crds }: RegistryBundle): string | undefined {
  const converted = new Set(
    csv.webhookDefinitions
      .filter(isConversionWebhook)
      .flatMap(({ conversionCrds }) => conversionCrds),
  );
  const unknown = crds.find((crd) => {
    const spec = crd['spec'] as JsonValue | undefined;
    return converted.has(objectName(crd)) && isMap(spec) && spec['preserveUnknownFields'] === true;
  });
  if (unknown === undefined) return undefined;
  return `custom resource definition '${objectName(unknown)}' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion; correct the CRD in the bundle's manifests`;
}
