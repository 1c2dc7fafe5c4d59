import type { JsonObject } from '../../../api/json.ts';
import { isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';

/** CAs to put into an object, in base64; undefined removes the present ones. */
type CABundle = string | undefined;

type Inject = (object: KubernetesObject, caBundle: CABundle) => KubernetesObject;

/** The objects that name the CAs of the API server's calls, by API group and kind. */
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
 * The object with these CAs for each call to a Service. A call to a URL keeps its author's
 * caBundle, because core certifies Services only.
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

/** An APIService without a service is answered by the API server itself and needs no CA. */
function intoAPIService(object: KubernetesObject, caBundle: CABundle): KubernetesObject {
  const spec = mapOf(object['spec']);
  if (!isMap(spec['service'])) return object;
  // The API server refuses insecureSkipTLSVerify together with caBundle.
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

/** The same object when nothing is added. */
export function withAnnotations(object: KubernetesObject, added: Annotations): KubernetesObject {
  if (Object.keys(added).length === 0) return object;
  const annotations = { ...object.metadata.annotations, ...added };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
