import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { configMapResource, secretResource } from '../../kube/core-resources.ts';
import { contentOfOthers } from './namespace-content.ts';

const note: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'note', namespace: 'shop' },
};

test.each([
  ['first', configMapResource.plural],
  ['last', secretResource.plural],
])('what the API server answers %s counts, whatever is empty', async (_, first) => {
  const answered = Promise.withResolvers<void>();
  const found = await contentOfOthers('shop', {
    client: {
      list: async ({ plural }) => {
        if (plural !== first) await answered.promise;
        // Once whoever waits for it has gone on.
        else setImmediate(answered.resolve);
        const items = plural === configMapResource.plural ? [note] : [];
        return { metadata: { resourceVersion: '1' }, items };
      },
    },
    discovery: {
      namespacedResources: async () => [configMapResource, secretResource],
      resourceForGroupKind: async () => undefined,
    },
    going: new Set(),
    ownerUID: 'uid',
    signal: AbortSignal.timeout(60_000),
  });
  expect(found).toBe('it holds ConfigMap/shop/note, which core does not delete');
});
