import { expect, test } from 'vitest';
import type { KubeClient, ListOptions } from '../kube-client.ts';
import { configMapResource } from '../resource.ts';
import { listAll } from './list.ts';

/** As many objects as are there, of so many bytes; and the page sizes that were asked for. */
function aCluster(count: number, bytes: number) {
  const limits: (number | undefined)[] = [];
  const data = { filling: 'x'.repeat(bytes) };
  const all = Array.from({ length: count }, (_, index) => {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${index}` }, data };
  });
  const list: KubeClient['list'] = async (_resource, options: ListOptions = {}) => {
    const start = Number(options.continue ?? 0);
    const end = start + (options.limit ?? all.length);
    limits.push(options.limit);
    const more = end < all.length ? { continue: String(end) } : {};
    return { metadata: { resourceVersion: '1', ...more }, items: all.slice(start, end) };
  };
  return { client: { list }, limits };
}

const names = {
  transform: ({ metadata }: { readonly metadata: { readonly name?: string } }) => metadata.name,
};

test('pages become large where objects are small', async () => {
  const { client, limits } = aCluster(1000, 10);
  expect(new Set((await listAll(client, configMapResource, names)).items).size).toBe(1000);
  expect(limits).toEqual([20, 500, 500]);
});

test('pages of large objects have few of them: anybody may write some', async () => {
  const { client, limits } = aCluster(60, 1024 * 1024);
  expect((await listAll(client, configMapResource, names)).items).toHaveLength(60);
  expect(Math.max(...limits.slice(1).map(Number))).toBeLessThanOrEqual(8);
});

test('a smaller page size is kept to', async () => {
  const { client, limits } = aCluster(5, 10);
  await listAll(client, configMapResource, { ...names, pageSize: 2 });
  expect(limits).toEqual([2, 2, 2]);
});
