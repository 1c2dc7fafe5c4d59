import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { JsonObject, KubernetesObject } from '../../../core/sdk.ts';
import type { WebhookDefinition } from '../csv/webhook-definition.ts';
import type { Installation } from '../installation/installation.ts';
import { objectName } from '../objects/object-name.ts';
import { withColumnFields } from '../objects/written-columns.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { isConversionWebhook } from '../webhooks/admission-webhook.ts';
import { caSource } from '../webhooks/serving-names.ts';
import { webhookService } from '../webhooks/webhook-configuration.ts';

/** The bundle's CRDs: as written, but for the case of fields of printer columns, and for those that a conversion webhook of the CSV converts. */
export function customResourceDefinitions(
  { csv, crds }: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const converters = new Map(
    csv.webhookDefinitions
      .filter(isConversionWebhook)
      .flatMap((webhook) => webhook.conversionCrds.map((name) => [name, webhook] as const)),
  );
  return crds.map(withColumnFields).map((crd) => {
    const webhook = converters.get(objectName(crd));
    return webhook === undefined ? crd : converted(crd, webhook, installation.installNamespace);
  });
}

function converted(
  crd: KubernetesObject,
  webhook: WebhookDefinition,
  namespace: string,
): KubernetesObject {
  const injectCaFrom = caSource(webhook.deploymentName, namespace);
  return {
    ...crd,
    metadata: {
      ...crd.metadata,
      annotations: { ...crd.metadata.annotations, [annotation.injectCaFrom]: injectCaFrom },
    },
    spec: {
      ...(crd['spec'] as JsonObject | undefined),
      conversion: {
        strategy: 'Webhook',
        webhook: {
          // Where the CSV names no path, OLM asks at the root.
          clientConfig: { service: { path: '/', ...webhookService(webhook, namespace) } },
          conversionReviewVersions: webhook.fields['admissionReviewVersions'],
        },
      },
    },
  };
}
