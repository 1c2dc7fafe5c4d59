import { catalogResource } from '../../../api/catalogd/v1alpha1/resources.ts';
import { clusterExtensionResource } from '../../../api/olm/v1/resources.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/resources.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { JsonObject, JsonValue } from '../../../core/sdk.ts';
import type { WebhookDefinition } from '../bundle/cluster-service-version.ts';
import { fieldOf, isMap, itemsOf, objectName } from '../bundle/objects.ts';
import type { BundleProblem, RegistryBundle } from '../bundle/registry-bundle.ts';
import { webhookName } from '../generators/webhooks.ts';
import type { Installation } from '../installation.ts';

type Problems = Generator<BundleProblem, void>;

const types = ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook', 'ConversionWebhook'];

/** The API server has no other types of webhooks. */
export function* knownWebhookTypes({ csv }: RegistryBundle): Problems {
  for (const item of csv.webhookDefinitions) {
    if (types.includes(item.type)) continue;
    const message = `webhook '${item.generateName}' has unknown type '${item.type}'; correct type in the CSV's webhookdefinitions to ${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
    yield { message, item };
  }
}

/** Each webhook needs a deployment of the CSV: otherwise all its requests would fail. */
export function* webhookDeployments({ csv }: RegistryBundle): Problems {
  const names = new Set(csv.deployments.map(({ name }) => name));
  for (const item of csv.webhookDefinitions) {
    const { type, generateName, deploymentName } = item;
    if (names.has(deploymentName)) continue;
    const message = `webhook of type '${type}' with name '${generateName}' references non-existent deployment '${deploymentName}'; correct deploymentName in the CSV's webhookdefinitions to a deployment of spec.install`;
    yield { message, item };
  }
}

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const threeLabels = new RegExp(`^${label}(?:\\.${label}){2,}$`);
// A configuration's name has six more characters.
const maxLength = 253 - 6;

/** The API server accepts no other names; a conversion webhook has no name there. */
export function* webhookNames(bundle: RegistryBundle): Problems {
  for (const item of admissionWebhooks(bundle)) {
    const name = webhookName(item);
    if (threeLabels.test(name) && name.length <= maxLength) continue;
    const message = `webhook of type '${item.type}' has invalid name '${item.generateName}': it must be three or more parts of lower case letters, digits and '-', joined by dots, with at most ${maxLength} characters (such as 'vpod.example.com'); correct generateName in the CSV's webhookdefinitions`;
    yield { message, item };
  }
}

/** The cluster would keep only one of two webhooks with the same type and name. */
export function* uniqueWebhooks(bundle: RegistryBundle): Problems {
  const seen = new Set<string>();
  for (const item of admissionWebhooks(bundle)) {
    const identity = `${item.type} ${webhookName(item)}`;
    if (seen.has(identity)) {
      const message = `duplicate webhook '${item.generateName}' of type '${item.type}'; give each its own generateName in the CSV's webhookdefinitions`;
      yield { message, item };
    }
    seen.add(identity);
  }
}

/** A webhook for these groups could prevent changes to an operator, or its removal. */
const forbiddenGroups: readonly string[] = [
  '*',
  bundleDeploymentResource.group,
  operatorResource.group,
  catalogResource.group,
  clusterExtensionResource.group,
];

const registration = 'admissionregistration.k8s.io';
const forbiddenResource = /^(?:\*|\*\/\*|(?:mutating|validating)webhookconfigurations?)$/i;

/** A webhook must not block its own installation, upgrade or removal. */
export function* webhookRules(bundle: RegistryBundle): Problems {
  for (const item of admissionWebhooks(bundle)) {
    for (const rule of itemsOf(item.fields['rules']).filter(isMap)) {
      const forbidden = forbiddenBy(rule);
      if (forbidden === undefined) continue;
      const message = `webhook "${item.generateName}" contains forbidden rule: admission webhook rules cannot reference ${forbidden}; name what the webhook is for in the rules of the CSV's webhookdefinitions`;
      yield { message, item };
    }
  }
}

function forbiddenBy(rule: JsonObject): string | undefined {
  const groups = textsOf(rule['apiGroups']);
  const group = groups.find((each) => forbiddenGroups.includes(each));
  if (group !== undefined) return `API group "${group}"`;
  if (!groups.includes(registration)) return undefined;
  const resource = textsOf(rule['resources']).find((each) => forbiddenResource.test(each));
  if (resource === undefined) return undefined;
  return `resource "${resource}" for API group "${registration}"`;
}

function textsOf(list: JsonValue | undefined): readonly string[] {
  return itemsOf(list).filter((item) => typeof item === 'string');
}

/**
 * A CRD is converted for all namespaces by one operator. Other supported modes of the CSV do not
 * matter, unlike in OLM: only the chosen one counts.
 */
export function* conversionInAllNamespaces(
  bundle: RegistryBundle,
  { targetNamespaces }: Installation,
): Problems {
  if (targetNamespaces.includes('')) return;
  for (const item of conversionWebhooks(bundle)) {
    const message = `bundle contains conversion webhook "${item.generateName}" and is to watch namespaces [${targetNamespaces.join(' ')}] - conversion webhooks are only supported in AllNamespaces install mode; remove watchNamespace and watchNamespaces from spec.config of the BundleDeployment`;
    yield { message, item };
  }
}

/** A conversion webhook may convert only CRDs of its bundle. */
export function* conversionOfOwnCrds(bundle: RegistryBundle): Problems {
  const own = new Set(bundle.crds.map(objectName));
  for (const item of conversionWebhooks(bundle)) {
    for (const name of item.conversionCrds) {
      if (own.has(name)) continue;
      const message = `conversion webhook '${item.generateName}' references custom resource definition '${name}' not owned bundle; add the CRD to the bundle's manifests or take it out of conversionCRDs in the CSV's webhookdefinitions`;
      yield { message, item };
    }
  }
}

/** A CRD can have only one conversion webhook. */
export function* oneConversionPerCrd(bundle: RegistryBundle): Problems {
  const webhooks = new Map<string, WebhookDefinition[]>();
  for (const webhook of conversionWebhooks(bundle)) {
    for (const crd of new Set(webhook.conversionCrds)) {
      webhooks.set(crd, webhooks.get(crd) ?? []);
      webhooks.get(crd)?.push(webhook);
    }
  }
  for (const [crd, [item, ...others]] of webhooks) {
    if (item === undefined || others.length === 0) continue;
    const names = [item, ...others].map(({ generateName }) => generateName).sort();
    const message = `conversion webhooks [${names.join(',')}] reference same custom resource definition '${crd}'; leave it in conversionCRDs of one of them in the CSV's webhookdefinitions`;
    yield { message, item };
  }
}

/** The API server calls no conversion webhook for a CRD that preserves unknown fields. */
export function* conversionPrunes(bundle: RegistryBundle): Problems {
  const converted = new Set(
    conversionWebhooks(bundle).flatMap(({ conversionCrds }) => conversionCrds),
  );
  for (const item of bundle.crds) {
    const spec = item['spec'] as JsonValue | undefined;
    const prunes = fieldOf(spec, 'preserveUnknownFields') !== true;
    if (prunes || !converted.has(objectName(item))) continue;
    const message = `custom resource definition '${objectName(item)}' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion; correct the CRD in the bundle's manifests`;
    yield { message, item };
  }
}

/** Webhooks that validate or mutate objects before they are stored. */
function admissionWebhooks({ csv }: RegistryBundle): readonly WebhookDefinition[] {
  return csv.webhookDefinitions.filter(
    ({ type }) => type === 'ValidatingAdmissionWebhook' || type === 'MutatingAdmissionWebhook',
  );
}

/** Webhooks that convert custom resources between versions. */
function conversionWebhooks({ csv }: RegistryBundle): readonly WebhookDefinition[] {
  return csv.webhookDefinitions.filter(({ type }) => type === 'ConversionWebhook');
}
