import { expect, test } from 'vitest';
import { configMapValidator } from './configmap.ts';
import type { AdmissionRequest } from './review.ts';

const references: Readonly<Record<string, readonly string[]>> = { used: ['b2', 'b1'] };
const validate = configMapValidator({
  systemNamespace: 'rukpak-system',
  bundles: { bundlesReferencing: (name) => references[name] ?? [] },
});

function judge(request: Partial<AdmissionRequest>) {
  const { signal } = new AbortController();
  return validate(
    { uid: '1', operation: 'CREATE', namespace: 'rukpak-system', ...request },
    signal,
  );
}

function aConfigMap(name: string, fields: object = {}): object {
  return { metadata: { name }, ...fields };
}

const ok = { allowed: true };

test('a mutable ConfigMap is not created while Bundles name it', () => {
  const reason =
    'configmap "used" is referenced in .spec.source.configMaps[].configMap.name by bundles [b1 b2]; referenced configmaps must have .immutable == true';
  const denial = { allowed: false, status: { code: 403, reason } };
  expect(judge({ object: aConfigMap('used') })).toEqual(denial);
  expect(judge({ object: aConfigMap('used', { immutable: false }) })).toEqual(denial);
});

test('an immutable or unnamed ConfigMap is created', () => {
  expect(judge({ object: aConfigMap('used', { immutable: true }) })).toEqual(ok);
  expect(judge({ object: aConfigMap('free') })).toEqual(ok);
});

test('a ConfigMap in use is not deleted', () => {
  expect(
    judge({ operation: 'DELETE', oldObject: aConfigMap('used', { immutable: true }) }),
  ).toEqual({
    allowed: false,
    status: { code: 403, reason: 'configmap "used" is in-use by bundle "b1"' },
  });
  expect(judge({ operation: 'DELETE', oldObject: aConfigMap('free') })).toEqual(ok);
});

test('other namespaces and updates are allowed', () => {
  expect(judge({ namespace: 'default', object: aConfigMap('used') })).toEqual(ok);
  expect(judge({ operation: 'UPDATE', object: aConfigMap('used') })).toEqual(ok);
});

test('what is no ConfigMap is refused with 400', () => {
  for (const object of [undefined, null, {}, { metadata: { name: 7 } }]) {
    const refusal = { allowed: false, status: { code: 400 } };
    expect(judge({ object })).toMatchObject(refusal);
    expect(judge({ operation: 'DELETE', oldObject: object })).toMatchObject(refusal);
  }
});
