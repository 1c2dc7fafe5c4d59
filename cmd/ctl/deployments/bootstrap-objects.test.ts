import { expect, test } from 'vitest';
import type { GroupVersionKind } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { definitionResource, type Resource } from '../../../core/platform/kube/index.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { aCRD } from '../../../test/helpers/objects.ts';
import type { Cluster } from '../cluster.ts';
import { applyAsRelease } from './bootstrap-objects.ts';

const { signal } = new AbortController();
const namespaces = { systemNamespace: 'rukpak-system', installNamespace: 'rukpak-system' };
const release = { name: 'shop', ...namespaces, signal };
const carts: Resource = {
  group: 'e2e.example.com',
  version: 'v1',
  kind: 'Cart',
  plural: 'carts',
  namespaced: true,
};

test('a custom resource is applied when the API server lists its kind, some time after the CRD', async () => {
  const client = new FakeKubeClient();
  const applied: string[] = [];
  client.apply = async (_resource, object) => {
    applied.push(object.kind);
    const conditions = [{ type: 'Established', status: 'True' }];
    return client.put({ ...object, status: { conditions } });
  };
  let lists = 0;
  const discovery = {
    resourceFor: async ({ kind }: GroupVersionKind) => {
      if (kind !== 'Cart') return definitionResource;
      return lists < 3 ? undefined : carts;
    },
    resourceForGroupKind: async () => undefined,
    invalidate: () => {
      lists += 1;
    },
  };
  const cluster = { client, discovery } as unknown as Cluster;
  const cart = {
    apiVersion: 'e2e.example.com/v1',
    kind: 'Cart',
    metadata: { name: 'a', namespace: 'default' },
  };
  const crd = aCRD('Cart') as KubernetesObject;
  await applyAsRelease([cart, crd], release, cluster);
  expect(applied).toEqual(['CustomResourceDefinition', 'Cart']);
});
