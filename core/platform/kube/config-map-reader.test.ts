import { expect, test, vi } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { ApiError } from './api-error.ts';
import { createConfigMapReader } from './config-map-reader.ts';
import { configMapResource } from './core-resources.ts';
import type { KubeClient } from './kube-client.ts';

const { signal } = new AbortController();

function answering(fields: object) {
  const metadata = { name: 'content', namespace: 'system' };
  const object: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...fields };
  return vi.fn<KubeClient['get']>(async () => object);
}

test('both kinds of values are read, as bytes, of the one namespace', async () => {
  const get = answering({ data: { 'a.yaml': 'ä' }, binaryData: { 'b.bin': 'AAH/' } });
  const content = await createConfigMapReader({ get }, 'system').read('content', signal);
  expect(get).toHaveBeenCalledWith(
    configMapResource,
    { namespace: 'system', name: 'content' },
    signal,
  );
  expect(Buffer.from(content?.get('a.yaml') ?? []).toString()).toBe('ä');
  expect([...(content?.get('b.bin') ?? [])]).toEqual([0, 1, 255]);
});

test('keys are kept that prototypes have', async () => {
  const data = JSON.parse('{"__proto__":"a","constructor":"b"}') as object;
  const binaryData = JSON.parse('{"toString":"AAH/"}') as object;
  const get = answering({ data, binaryData });
  const content = await createConfigMapReader({ get }, 'system').read('content', signal);
  expect([...(content?.keys() ?? [])].sort()).toEqual(['__proto__', 'constructor', 'toString']);
  expect(Buffer.from(content?.get('__proto__') ?? []).toString()).toBe('a');
});

test('an empty ConfigMap has no values, one that does not exist is undefined', async () => {
  const empty = createConfigMapReader({ get: answering({}) }, 'system');
  expect([...((await empty.read('content', signal)) ?? ['none'])]).toEqual([]);
  const get = answering({}).mockRejectedValue(new ApiError(404, { reason: 'NotFound' }));
  const absent = createConfigMapReader({ get }, 'system');
  expect(await absent.read('content', signal)).toBeUndefined();
});

test('other errors pass through', async () => {
  const get = answering({}).mockRejectedValue(new Error('cannot reach the API server'));
  const reader = createConfigMapReader({ get }, 'system');
  await expect(reader.read('content', signal)).rejects.toThrow('cannot reach the API server');
});
