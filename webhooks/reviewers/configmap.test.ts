import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../review.ts';
import { configMapValidator } from './configmap.ts';

const references: Readonly<Record<string, readonly string[]>> = { used: ['b2', 'b1'] };
const validate = configMapValidator({
  systemNamespace: 'rukpak-system',
  bundles: { bundlesReferencing: async (name) => references[name] ?? [] },
});

async function judge(request: Partial<AdmissionRequest>) {
  const { signal } = new AbortController();
  return await validate(
    { uid: '1', operation: 'CREATE', namespace: 'rukpak-system', ...request },
    signal,
  );
}

function aConfigMap(name: string, fields: object = {}): object {
  return { metadata: { name }, ...fields };
}

const ok = { allowed: true };

test('a mutable ConfigMap is not created while Bundles name it', async () => {
  const reason =
    'configmap "used" is referenced in .spec.source.configMaps[].configMap.name by bundles [b1 b2]; referenced configmaps must have .immutable == true';
  const denial = { allowed: false, status: { code: 403, reason } };
  expect(await judge({ object: aConfigMap('used') })).toEqual(denial);
  expect(await judge({ object: aConfigMap('used', { immutable: false }) })).toEqual(denial);
});

test('an immutable or unnamed ConfigMap is created', async () => {
  expect(await judge({ object: aConfigMap('used', { immutable: true }) })).toEqual(ok);
  expect(await judge({ object: aConfigMap('free') })).toEqual(ok);
});

test('a ConfigMap in use is not deleted', async () => {
  expect(
    await judge({ operation: 'DELETE', oldObject: aConfigMap('used', { immutable: true }) }),
  ).toEqual({
    allowed: false,
    status: { code: 403, reason: 'configmap "used" is in-use by bundle "b1"' },
  });
  expect(await judge({ operation: 'DELETE', oldObject: aConfigMap('free') })).toEqual(ok);
});

test('other namespaces and updates are allowed', async () => {
  expect(await judge({ namespace: 'default', object: aConfigMap('used') })).toEqual(ok);
  expect(await judge({ operation: 'UPDATE', object: aConfigMap('used') })).toEqual(ok);
});

test('what is no ConfigMap is refused with 400', async () => {
  for (const object of [undefined, null, {}, { metadata: { name: 7 } }]) {
    const refusal = { allowed: false, status: { code: 400 } };
    expect(await judge({ object })).toMatchObject(refusal);
    expect(await judge({ operation: 'DELETE', oldObject: object })).toMatchObject(refusal);
  }
});
