import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import type { WebhookDefinition } from '../bundle/cluster-service-version.ts';
import { fieldOf, isMap, itemsOf, objectName } from '../bundle/objects.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Installation } from '../installation.ts';
import { caSource } from '../serving.ts';
import { webhookService } from './webhooks.ts';

/**
 * The bundle's CRDs as written, except for the case of printer column fields, and conversion
 * webhooks of the CSV.
 */
export function customResourceDefinitions(
  { csv, crds }: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const converters = new Map(
    csv.webhookDefinitions
      .filter(({ type }) => type === 'ConversionWebhook')
      .flatMap((webhook) => webhook.conversionCrds.map((name) => [name, webhook] as const)),
  );
  return crds.map(withColumnFields).map((crd) => {
    const webhook = converters.get(objectName(crd));
    const definition = installation.skipsCrdUpgradeSafety === true ? unchecked(crd) : crd;
    if (webhook === undefined) return definition;
    return converted(definition, webhook, installation.installNamespace);
  });
}

/** The crdvalidator accepts every change of it. */
function unchecked(crd: KubernetesObject): KubernetesObject {
  const annotations = { ...crd.metadata.annotations, [annotation.safeCrdUpgrade]: 'false' };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
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
          // When the CSV names no path, OLM uses the root.
          clientConfig: { service: { path: '/', ...webhookService(webhook, namespace) } },
          conversionReviewVersions: webhook.fields['admissionReviewVersions'],
        },
      },
    },
  };
}

const columnFields = ['name', 'type', 'format', 'description', 'priority', 'jsonPath'] as const;

/**
 * A CRD with its printer column fields in the API's case: `JSONPath` of v1beta1 is `jsonPath`. Go's
 * decoder accepted both, and so catalogs contain both; the API server accepts one.
 */
function withColumnFields(crd: KubernetesObject): KubernetesObject {
  const { spec } = crd as JsonObject;
  if (!isMap(spec) || !itemsOf(spec['versions']).some(hasOtherCase)) return crd;
  const versions = itemsOf(spec['versions']).map((version) => {
    if (!hasOtherCase(version)) return version;
    const additionalPrinterColumns = columnsOf(version).map(corrected);
    return { ...version, additionalPrinterColumns };
  });
  return { ...crd, spec: { ...spec, versions } };
}

function hasOtherCase(version: JsonValue): version is JsonObject {
  return columnsOf(version).some((column) => isMap(column) && otherCase(column).length > 0);
}

function columnsOf(version: JsonValue): readonly JsonValue[] {
  return itemsOf(fieldOf(version, 'additionalPrinterColumns'));
}

function corrected(column: JsonValue): JsonValue {
  if (!isMap(column)) return column;
  const fields = new Map(otherCase(column));
  const entries = Object.entries(column).map(([key, value]) => [fields.get(key) ?? key, value]);
  const names: readonly string[] = columnFields;
  const rightCase = Object.entries(column).filter(([key]) => names.includes(key));
  // Fields in the right case have priority.
  return Object.fromEntries([...entries, ...rightCase]);
}

/** Keys that differ from a field only in case, with the field. */
function otherCase(column: JsonObject): readonly (readonly [written: string, field: string])[] {
  return Object.keys(column).flatMap((key) => {
    const field = columnFields.find((each) => each.toLowerCase() === key.toLowerCase());
    return field === undefined || field === key ? [] : [[key, field] as const];
  });
}
