import type { JsonObject } from '../../../api/json.ts';
import { isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';

/** CAs to put into an object, in base64; undefined takes out what is there. */
type CABundle = string | undefined;

type Inject = (object: KubernetesObject, caBundle: CABundle) => KubernetesObject;

/** The objects that say whom the API server is to trust, by API group and kind. */
const injections: ReadonlyMap<string, Inject> = new Map([
  ['admissionregistration.k8s.io/ValidatingWebhookConfiguration', intoWebhooks],
  ['admissionregistration.k8s.io/MutatingWebhookConfiguration', intoWebhooks],
  ['apiextensions.k8s.io/CustomResourceDefinition', intoConversion],
  ['apiregistration.k8s.io/APIService', intoAPIService],
]);

export function isTrustHolder(object: KubernetesObject): boolean {
  return injectionOf(object) !== undefined;
}

/**
 * The object, trusting these CAs wherever it calls a Service. What it calls by a URL is none of our
 * Services: there its author's caBundle stays.
 */
export function withTrust(object: KubernetesObject, caBundle: CABundle): KubernetesObject {
  return injectionOf(object)?.(object, caBundle) ?? object;
}

function injectionOf({ apiVersion, kind }: KubernetesObject): Inject | undefined {
  const [group = ''] = apiVersion.split('/');
  return injections.get(`${group}/${kind}`);
}

function intoWebhooks(object: KubernetesObject, caBundle: CABundle): KubernetesObject {
  const webhooks = listOf(object['webhooks']).map((webhook) =>
    isMap(webhook)
      ? { ...webhook, clientConfig: intoClientConfig(webhook['clientConfig'], caBundle) }
      : webhook,
  );
  return webhooks.length === 0 ? object : { ...object, webhooks };
}

function intoConversion(object: KubernetesObject, caBundle: CABundle): KubernetesObject {
  const spec = mapOf(object['spec']);
  const conversion = mapOf(spec['conversion']);
  const webhook = mapOf(conversion['webhook']);
  if (stringAt(conversion, 'strategy') !== 'Webhook') return object;
  const clientConfig = intoClientConfig(webhook['clientConfig'], caBundle);
  return {
    ...object,
    spec: { ...spec, conversion: { ...conversion, webhook: { ...webhook, clientConfig } } },
  };
}

/** Of an APIService that the API server answers itself there is nobody to trust. */
function intoAPIService(object: KubernetesObject, caBundle: CABundle): KubernetesObject {
  const spec = mapOf(object['spec']);
  if (!isMap(spec['service'])) return object;
  // The API server refuses both at once.
  const { insecureSkipTLSVerify: _, ...rest } = spec;
  return { ...object, spec: trusting(rest, caBundle) };
}

function intoClientConfig(clientConfig: unknown, caBundle: CABundle): unknown {
  if (!isMap(clientConfig) || !isMap(clientConfig['service'])) return clientConfig;
  return trusting(clientConfig, caBundle);
}

function trusting(config: JsonObject, caBundle: CABundle): JsonObject {
  const { caBundle: _, ...rest } = config;
  return caBundle === undefined ? rest : { ...rest, caBundle };
}

export type Annotations = Readonly<Record<string, string>>;

/** The very object where nothing is added. */
export function withAnnotations(object: KubernetesObject, added: Annotations): KubernetesObject {
  if (Object.keys(added).length === 0) return object;
  const annotations = { ...object.metadata.annotations, ...added };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
