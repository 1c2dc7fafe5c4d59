import { z } from 'zod';
import type { KubernetesObject } from '../../../api/meta.ts';
import { record } from '../../../api/record.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { SecretContent, SecretReader } from '../../contracts/source.ts';
import { isNotFound } from './api-error.ts';
import { secretResource } from './core-resources.ts';
import type { KubeClient } from './kube-client.ts';

const secretSchema = z.object({
  metadata: z.object({
    annotations: z.looseObject({ [annotation.sourceHosts]: z.string().optional() }).optional(),
  }),
  type: z.string().default('Opaque'),
  data: record(z.base64()).default({}),
});

/** Reads Secrets of one namespace, each time anew: credentials change, and are not kept. */
export function createSecretReader(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  place?: string,
): SecretReader {
  return {
    place,
    async read(name, signal) {
      try {
        return contentOf(await client.get(secretResource, { namespace, name }, signal));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
  };
}

function contentOf(secret: KubernetesObject): SecretContent {
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

/** Names the fields; what is in them stays secret. */
function malformed({ metadata }: KubernetesObject, { issues }: z.ZodError): Error {
  const problems = issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  return new Error(
    `Secret "${metadata.name}" in namespace "${metadata.namespace}" is malformed: ${problems}`,
  );
}
