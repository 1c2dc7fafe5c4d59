import { describe, expect, test, vi } from 'vitest';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { ApiError } from '../api-error.ts';
import type { KubeClient } from '../kube-client.ts';
import { configMapResource } from '../resource.ts';
import { createConfigMapReader, createSecretReader } from './configuration-readers.ts';

const { signal } = new AbortController();

function aSecret(fields: object): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'credentials', namespace: 'system' },
    ...fields,
  };
}

function aReader(get: KubeClient['get']) {
  return createSecretReader({ get }, 'system');
}

async function reading(secret: KubernetesObject) {
  return await aReader(async () => secret).read('credentials', signal);
}

describe('a Secret', () => {
  test('is read of the one namespace, each time anew', async () => {
    const get = vi.fn<KubeClient['get']>(async () => aSecret({}));
    const reader = aReader(get);
    await reader.read('credentials', signal);
    await reader.read('credentials', signal);
    expect(get.mock.calls).toEqual(
      Array.from({ length: 2 }, () => [
        { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
        { namespace: 'system', name: 'credentials' },
        signal,
      ]),
    );
  });

  test('keeps keys that prototypes have', async () => {
    const data = JSON.parse('{"__proto__":"bWU=","constructor":"YQo="}') as object;
    const secret = await reading(aSecret({ data }));
    expect(secret?.data.get('__proto__')).toEqual(Buffer.from('me'));
    expect(secret?.data.size).toBe(2);
  });

  test('is decoded to bytes, and may have none', async () => {
    const data = { username: 'bWU=', password: '', binary: '/+8A', 'ssh-privatekey': 'YQo=' };
    const secret = await reading(aSecret({ type: 'kubernetes.io/basic-auth', data }));
    expect(secret?.type).toBe('kubernetes.io/basic-auth');
    expect(secret?.data.get('username')).toEqual(Buffer.from('me'));
    expect(secret?.data.get('password')).toEqual(Buffer.alloc(0));
    expect(secret?.data.get('binary')).toEqual(Buffer.from([0xff, 0xef, 0]));
    expect(secret?.data.size).toBe(4);
  });

  test('without data or type is an empty one of type Opaque', async () => {
    expect(await reading(aSecret({}))).toEqual({ type: 'Opaque', data: new Map() });
  });

  test('that is not there is undefined', async () => {
    const notFound = new ApiError(404, { message: 'secrets "credentials" not found' });
    const reader = aReader(() => Promise.reject(notFound));
    expect(await reader.read('credentials', signal)).toBeUndefined();
  });

  test.each([
    new ApiError(403, { message: 'secrets "credentials" is forbidden' }),
    new Error('connection refused'),
  ])('that cannot be read is an error: %s', async (error) => {
    const reader = aReader(vi.fn<KubeClient['get']>().mockRejectedValue(error));
    await expect(reader.read('credentials', signal)).rejects.toBe(error);
  });

  test.each<[string, object, string]>([
    ['no base64', { data: { password: 'hunter2 in the clear!' } }, 'data.password'],
    ['cut base64', { data: { password: 'aHVudGVyM' } }, 'data.password'],
    ['a number', { data: { password: 12 } }, 'data.password'],
    ['a list', { data: ['hunter2'] }, 'data'],
    ['a type that is none', { type: 7 }, 'type'],
  ])('that holds %s is an error that names the field, not the value', async (_, fields, field) => {
    const failure = reading(aSecret(fields)).catch((error: unknown) => error);
    const { message } = (await failure) as Error;
    expect(message).toMatch(/^Secret "credentials" in namespace "system" is malformed: /);
    expect(message).toContain(field);
    expect(message).not.toMatch(/hunter2|aHVu|\n/);
  });
});

function answering(fields: object) {
  const metadata = { name: 'content', namespace: 'system' };
  const object: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...fields };
  return vi.fn<KubeClient['get']>(async () => object);
}

describe('a ConfigMap', () => {
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
});
