import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { withTrust } from './trust.ts';

const service = { namespace: 'app', name: 'hook' };

function anObject(apiVersion: string, kind: string, fields: object): KubernetesObject {
  return { apiVersion, kind, metadata: { name: 'x' }, ...fields };
}

test.each(['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'])(
  'every webhook of a %s that calls a Service',
  (kind) => {
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const elsewhere = { name: 'b', clientConfig: { url: 'https://x.example', caBundle: 'theirs' } };
    const webhooks = [{ name: 'a', clientConfig: { service, caBundle: 'author' } }, elsewhere];
    expect(withTrust(anObject(apiVersion, kind, { webhooks }), 'ours')).toMatchObject({
      webhooks: [{ name: 'a', clientConfig: { service, caBundle: 'ours' } }, elsewhere],
    });
    const [first] = withTrust(anObject(apiVersion, kind, { webhooks }), undefined)[
      'webhooks'
    ] as readonly object[];
    expect(first).toEqual({ name: 'a', clientConfig: { service } });
  },
);

const aDefinition = (conversion: object) =>
  anObject('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    spec: { group: 'example.com', conversion },
  });

test('a CRD that is converted by a webhook, and no other', () => {
  const webhook = { clientConfig: { service }, conversionReviewVersions: ['v1'] };
  expect(withTrust(aDefinition({ strategy: 'Webhook', webhook }), 'ours')['spec']).toEqual({
    group: 'example.com',
    conversion: {
      strategy: 'Webhook',
      webhook: { ...webhook, clientConfig: { service, caBundle: 'ours' } },
    },
  });
  const none = aDefinition({ strategy: 'None' });
  expect(withTrust(none, 'ours')).toBe(none);
});

test('an APIService, which must not skip the check as well', () => {
  const apiService = (spec: object) =>
    anObject('apiregistration.k8s.io/v1', 'APIService', { spec });
  const asked = apiService({ service, insecureSkipTLSVerify: true });
  expect(withTrust(asked, 'ours')['spec']).toEqual({ service, caBundle: 'ours' });
  const local = apiService({ version: 'v1' });
  expect(withTrust(local, 'ours')).toBe(local);
});

test.each([{}, { webhooks: 'none' }, { webhooks: ['odd', { clientConfig: null }] }])(
  'what is odd stays for the API server to refuse: %j',
  (fields) => {
    const odd = anObject('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', fields);
    expect(withTrust(odd, 'ours')).toMatchObject(fields);
  },
);
