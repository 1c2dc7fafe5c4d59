import { z } from 'zod';
import { record } from '../../../api/record.ts';
import type { ConfigMapReader } from '../../contracts/source.ts';
import { isNotFound } from './api-error.ts';
import { configMapResource } from './core-resources.ts';
import type { KubeClient } from './kube-client.ts';

const configMapSchema = z.object({
  data: record(z.string()).default({}),
  binaryData: record(z.base64()).default({}),
});

/** Reads ConfigMaps of one namespace, each time anew. */
export function createConfigMapReader(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
): ConfigMapReader {
  return {
    namespace,
    async read(name, signal) {
      try {
        return contentOf(await client.get(configMapResource, { namespace, name }, signal));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
  };
}

function contentOf(configMap: unknown): ReadonlyMap<string, Uint8Array> {
  const { data, binaryData } = configMapSchema.parse(configMap);
  return new Map([
    ...Object.entries(data).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...Object.entries(binaryData).map(
      ([key, base64]) => [key, Buffer.from(base64, 'base64')] as const,
    ),
  ]);
}
