import { expect, test } from 'vitest';
import type { RawRequest } from '../../../core/platform/kube/kube-client.ts';
import { missingRules } from './policy-rules.ts';

const { signal } = new AbortController();

interface Spec {
  readonly resourceAttributes?: Readonly<Record<string, string>>;
  readonly nonResourceAttributes?: Readonly<Record<string, string>>;
}

function clientThatAllows(allows: (spec: Spec) => boolean) {
  return {
    request: async ({ body }: RawRequest) => {
      const { spec } = body as { spec: Spec };
      return { status: { allowed: allows(spec) } };
    },
  };
}

const logs = { apiGroups: [''], resources: ['pods/log'], verbs: ['get', 'list'] };
const metrics = { nonResourceURLs: ['/metrics'], verbs: ['get'] };
const named = {
  apiGroups: [''],
  resources: ['secrets'],
  resourceNames: ['a', 'b'],
  verbs: ['get'],
};
const rules = [logs, metrics, named].map((rule) => ({ namespace: 'shop', rule }));

test('a rule is missing where any part of it is', async () => {
  const client = clientThatAllows(
    ({ resourceAttributes: { verb, subresource, name } = {} }) =>
      !(subresource === 'log' && verb === 'list') && name !== 'b',
  );
  const missing = await missingRules(client, rules, signal);
  // Access to all secrets of this namespace, because the rule names none.
  expect(missing.map(({ rule }) => rule)).toEqual([logs]);
});

test('names and paths are asked about as well', async () => {
  const client = clientThatAllows(
    ({ resourceAttributes: { name, resource } = {}, nonResourceAttributes }) =>
      nonResourceAttributes === undefined && (resource !== 'secrets' || name === 'a'),
  );
  const missing = await missingRules(client, rules, signal);
  expect(missing.map(({ rule }) => rule)).toEqual([metrics, named]);
});
