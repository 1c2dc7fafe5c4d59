import { describe, expect, test } from 'vitest';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';

const resource = { group: 'x', version: 'v1', kind: 'W', plural: 'ws', namespaced: false };

function aTarget(finalizers?: string[]) {
  const client = new FakeKubeClient();
  const object = client.put({
    apiVersion: 'x/v1',
    kind: 'W',
    metadata: { name: 'a', ...(finalizers && { finalizers }) },
  });
  return { client, object, target: { client, resource, signal: new AbortController().signal } };
}

describe('finalizers', () => {
  test('are added beside others, once', async () => {
    const { target, object } = aTarget(['other']);
    const written = await addFinalizer(target, object, 'mine');
    expect(written?.metadata.finalizers).toEqual(['other', 'mine']);
    expect(await addFinalizer(target, written!, 'mine')).toBeUndefined();
    expect(target.client.count('patch')).toBe(1);
  });

  test('are removed alone, and only where present', async () => {
    const { target, object } = aTarget(['mine', 'other']);
    const written = await removeFinalizer(target, object, 'mine');
    expect(written?.metadata.finalizers).toEqual(['other']);
    expect(await removeFinalizer(target, written!, 'mine')).toBeUndefined();
    expect(target.client.count('patch')).toBe(1);
  });

  test('are not written over what another changed meanwhile', async () => {
    const { client, target, object } = aTarget();
    client.put({ ...object, metadata: { ...object.metadata, finalizers: ['newer'] } });
    await expect(addFinalizer(target, object, 'mine')).rejects.toMatchObject({ code: 409 });
  });

  test('of an object that is gone are gone', async () => {
    const { client, target, object } = aTarget(['mine']);
    client.drop({ name: 'a' });
    expect(await removeFinalizer(target, object, 'mine')).toBeUndefined();
  });
});
