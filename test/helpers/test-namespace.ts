/** A namespace that nobody else uses. */
export { configMapResource } from '../../core/platform/kube/index.ts';

import { type KubeClient, namespaceResource } from '../../core/platform/kube/index.ts';
export async function aTestNamespace(
  client: KubeClient,
  prefix: string,
): Promise<{ readonly namespace: string; readonly drop: () => Promise<void> }> {
  const { metadata } = await client.create(namespaceResource, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { generateName: `${prefix}-` },
  });
  const namespace = metadata.name ?? '';
  return {
    namespace,
    drop: async () => await client.delete(namespaceResource, { name: namespace }),
  };
}
