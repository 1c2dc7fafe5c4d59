import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../core/sdk.ts';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  aCsvManifest,
  aRegistryBundle,
  aServer,
  aWebhook,
} from '../../../test/helpers/registry-bundle.ts';
import {
  readClusterServiceVersion,
  type WebhookDefinition,
} from '../bundle/cluster-service-version.ts';
import { mutatingWebhooks, validatingWebhooks } from './webhooks.ts';

const inNs = anInstallation({ installNamespace: 'ns' });

function readWebhookDefinition(written: object): WebhookDefinition {
  const csv = aCsvManifest({ webhookdefinitions: [written] });
  return readClusterServiceVersion(csv as KubernetesObject).webhookDefinitions[0]!;
}

describe('validatingWebhooks', () => {
  const rules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
  ];
  const written = {
    type: 'ValidatingAdmissionWebhook',
    generateName: 'vpod.example.com',
    deploymentName: 'web.v1',
    containerPort: 8443,
    targetPort: 'https',
    webhookPath: '/validate',
    rules,
    failurePolicy: 'Fail',
    matchPolicy: 'Exact',
    objectSelector: { matchLabels: { a: 'b' } },
    sideEffects: 'None',
    timeoutSeconds: 7,
    admissionReviewVersions: ['v1'],
    reinvocationPolicy: 'IfNeeded',
    namespaceSelector: { matchLabels: { none: 'of the CSV' } },
  };
  const definition = readWebhookDefinition(written);
  const bundle = aServer({ webhookDefinitions: [definition] });

  it('are as OLM makes them of every field of the CSV', () => {
    expect(validatingWebhooks(bundle, inNs)).toStrictEqual([
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: {
          name: expect.stringMatching(/^vpod\.example\.com-[a-z0-9]{5}$/),
          labels: { 'olm.webhook-description-generate-name': 'vpod.example.com' },
          annotations: { 'core.rukpak.io/inject-ca-from': 'ns/web-v1-service-cert' },
        },
        webhooks: [
          {
            name: 'vpod.example.com',
            rules,
            failurePolicy: 'Fail',
            matchPolicy: 'Exact',
            objectSelector: { matchLabels: { a: 'b' } },
            sideEffects: 'None',
            timeoutSeconds: 7,
            admissionReviewVersions: ['v1'],
            clientConfig: {
              service: { namespace: 'ns', name: 'web-v1-service', path: '/validate', port: 8443 },
            },
          },
        ],
      },
    ]);
  });

  it('ask the Service at port 443 and no path where the CSV names none', () => {
    const short = readWebhookDefinition({
      type: 'ValidatingAdmissionWebhook',
      deploymentName: 'web',
    });
    const [made] = validatingWebhooks(aServer({ webhookDefinitions: [short] }), inNs);
    expect(made?.['webhooks']).toEqual([
      {
        name: '',
        clientConfig: { service: { namespace: 'ns', name: 'web-service', port: 443 } },
      },
    ]);
  });

  it('are asked about the watched namespaces alone', () => {
    const installation = anInstallation({ targetNamespaces: ['a', 'b'] });
    expect(validatingWebhooks(bundle, installation)[0]?.['webhooks']).toMatchObject([
      {
        namespaceSelector: {
          matchExpressions: [
            { key: 'kubernetes.io/metadata.name', operator: 'In', values: ['a', 'b'] },
          ],
        },
      },
    ]);
  });

  it('keep their name between versions, and have another in another package or namespace', () => {
    const name = (packageName: string, installNamespace: string, version = 'v1') =>
      validatingWebhooks(
        aRegistryBundle({
          packageName,
          csv: aCsv({ name: version, webhookDefinitions: [definition] }),
        }),
        anInstallation({ installNamespace }),
      )[0]?.metadata.name;
    expect(name('a', 'ns', 'v2')).toBe(name('a', 'ns', 'v1'));
    expect(new Set([name('a', 'ns'), name('b', 'ns'), name('a', 'other')]).size).toBe(3);
  });

  it('lose a hyphen at the end of their name, and a label that is no label', () => {
    const named = (generateName: string) =>
      validatingWebhooks(aServer({ webhookDefinitions: [aWebhook({ generateName })] }), inNs)[0];
    expect(named('a.b.c-')?.['webhooks']).toMatchObject([{ name: 'a.b.c' }]);
    expect(named('a.b.c-')?.metadata.name).toMatch(/^a\.b\.c-[a-z0-9]{5}$/);
    expect(named('a.b.c-')?.metadata.labels).toBeUndefined();
    expect(named(`${'a'.repeat(60)}.b.c`)?.metadata.labels).toBeUndefined();
  });
});

describe('mutatingWebhooks', () => {
  it('are those of their type, with what only they have', () => {
    const mutating = aWebhook({
      type: 'MutatingAdmissionWebhook',
      generateName: 'mpod.example.com',
      webhookPath: '/mutate',
      fields: { reinvocationPolicy: 'IfNeeded', sideEffects: 'None' },
    });
    const bundle = aServer({
      webhookDefinitions: [aWebhook(), mutating, aWebhook({ type: 'ConversionWebhook' })],
    });
    expect(mutatingWebhooks(bundle, inNs)).toMatchObject([
      {
        kind: 'MutatingWebhookConfiguration',
        metadata: { annotations: { 'core.rukpak.io/inject-ca-from': 'ns/web-service-cert' } },
        webhooks: [
          {
            name: 'mpod.example.com',
            reinvocationPolicy: 'IfNeeded',
            clientConfig: {
              service: { namespace: 'ns', name: 'web-service', path: '/mutate', port: 443 },
            },
          },
        ],
      },
    ]);
    expect(validatingWebhooks(bundle, inNs)).toHaveLength(1);
  });
});
