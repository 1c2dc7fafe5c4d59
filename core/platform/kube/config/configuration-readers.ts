import { z } from 'zod';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { record } from '../../../../api/record.ts';
import { annotation } from '../../../../api/v1alpha1/labels.ts';
import type { ConfigMapReader, SecretContent, SecretReader } from '../../../contracts/source.ts';
import { type KubeClient, liveObject } from '../kube-client.ts';
import { configMapResource, secretResource } from '../resource.ts';

const secretSchema = z.object({
  metadata: z.object({
    annotations: z.looseObject({ [annotation.sourceHosts]: z.string().optional() }).optional(),
  }),
  type: z.string().default('Opaque'),
  data: record(z.base64()).default({}),
});

/** Reads Secrets of one namespace at every call: credentials change, and are not cached. */
export function createSecretReader(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  place?: string,
): SecretReader {
  return {
    place,
    async read(name, signal) {
      const target = { resource: secretResource, key: { namespace, name } };
      const secret = await liveObject(client, target, signal);
      return secret && secretContent(secret);
    },
  };
}

function secretContent(secret: KubernetesObject): SecretContent {
  const result = secretSchema.safeParse(secret);
  if (!result.success) throw malformed(secret, result.error);
  const { type, data, metadata } = result.data;
  const decoded = Object.entries(data).map(
    ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
  );
  const hosts = metadata.annotations?.[annotation.sourceHosts]?.split(',');
  const names = hosts?.map((host) => host.trim().toLowerCase()).filter((host) => host !== '');
  return { type, data: new Map(decoded), ...(names !== undefined && { hosts: names }) };
}

/** Names the fields without their values, which are secret. */
function malformed({ metadata }: KubernetesObject, { issues }: z.ZodError): Error {
  const problems = issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  return new Error(
    `Secret "${metadata.name}" in namespace "${metadata.namespace}" is malformed: ${problems}`,
  );
}

const configMapSchema = z.object({
  data: record(z.string()).default({}),
  binaryData: record(z.base64()).default({}),
});

/** Reads ConfigMaps of one namespace at every call. */
export function createConfigMapReader(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
): ConfigMapReader {
  return {
    namespace,
    async read(name, signal) {
      const target = { resource: configMapResource, key: { namespace, name } };
      const configMap = await liveObject(client, target, signal);
      return configMap && configMapContent(configMap);
    },
  };
}

function configMapContent(configMap: KubernetesObject): ReadonlyMap<string, Uint8Array> {
  const { data, binaryData } = configMapSchema.parse(configMap);
  return new Map([
    ...Object.entries(data).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...Object.entries(binaryData).map(
      ([key, base64]) => [key, Buffer.from(base64, 'base64')] as const,
    ),
  ]);
}
