import { z } from 'zod';
import type { SecretReader } from '../contracts/source.ts';
import { isNotFound } from './api-error.ts';
import type { KubeClient } from './kube-client.ts';
import type { Resource } from './resource.ts';

const secretResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

const secretSchema = z.object({
  type: z.string().default('Opaque'),
  data: z.record(z.string(), z.base64()).default({}),
});

/** Reads Secrets of one namespace, each time anew: credentials change, and are not kept. */
export function createSecretReader(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
): SecretReader {
  return {
    async read(name, signal) {
      try {
        const secret = await client.get(secretResource, { namespace, name }, signal);
        const { type, data } = secretSchema.parse(secret);
        const decoded = Object.entries(data).map(
          ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
        );
        return { type, data: new Map(decoded) };
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
  };
}
