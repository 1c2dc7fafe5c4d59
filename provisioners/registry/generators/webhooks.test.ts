import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  anObject,
  anOwnedApiService,
  aRegistryBundle,
  aWebhook,
} from '../../../test/helpers/registry-bundle.ts';
import type { ClusterServiceVersion } from '../csv/cluster-service-version.ts';
import { Field } from '../csv/field.ts';
import { readWebhookDefinition } from '../csv/webhook-definition.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { uniqueObjects } from '../unique-objects.ts';
import { apiServiceBindings } from './api-service-bindings.ts';
import { apiServices } from './api-services.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import { mutatingWebhooks } from './mutating-webhooks.ts';
import { otherObjects } from './other-objects.ts';
import { services } from './services.ts';
import { validatingWebhooks } from './validating-webhooks.ts';

const inNs = anInstallation({ installNamespace: 'ns' });
const conversion = aWebhook({
  type: 'ConversionWebhook',
  generateName: 'cthings.example.com',
  webhookPath: '/convert',
  conversionCrds: ['things.example.com'],
  fields: { sideEffects: 'None', admissionReviewVersions: ['v1', 'v1beta1'] },
});

/** A bundle whose deployments all have pods labelled `app: <name>`. */
function aServer(
  csv: Partial<ClusterServiceVersion>,
  names: readonly string[] = ['web'],
  fields: Partial<RegistryBundle> = {},
): RegistryBundle {
  const deployments = names.map((name) => ({
    name,
    labels: {},
    podAnnotations: {},
    serviceAccountName: '',
    spec: { selector: { matchLabels: { app: name } } },
  }));
  return aRegistryBundle({ csv: aCsv({ deployments, ...csv }), ...fields });
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
  const definition = readWebhookDefinition(new Field(written, ''));
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
    const short = readWebhookDefinition(
      new Field({ type: 'ValidatingAdmissionWebhook', deploymentName: 'web' }, ''),
    );
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
    const bundle = aServer({ webhookDefinitions: [aWebhook(), mutating, conversion] });
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

describe('services', () => {
  it('stand in front of each deployment that serves, with its ports once and in order', () => {
    const bundle = aServer(
      {
        webhookDefinitions: [
          aWebhook({ deploymentName: 'a.b', containerPort: 8443, targetPort: 'https' }),
          aWebhook({ deploymentName: 'a.b' }),
          aWebhook({ deploymentName: 'a.b', type: 'MutatingAdmissionWebhook' }),
        ],
        ownedApiServices: [anOwnedApiService({ deploymentName: 'api', containerPort: 5443 })],
      },
      ['idle', 'a.b', 'api'],
    );
    expect(services(bundle, inNs)).toStrictEqual([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'a-b-service',
          namespace: 'ns',
          annotations: { 'core.rukpak.io/serving-certificate': 'a-b-service-cert' },
        },
        spec: {
          ports: [
            { name: '443', port: 443, targetPort: 9443 },
            { name: '8443', port: 8443, targetPort: 'https' },
          ],
          selector: { app: 'a.b' },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'api-service',
          namespace: 'ns',
          annotations: { 'core.rukpak.io/serving-certificate': 'api-service-cert' },
        },
        spec: {
          ports: [{ name: '5443', port: 5443, targetPort: 5443 }],
          selector: { app: 'api' },
        },
      },
    ]);
  });

  it("keep what the bundle's own Service of that name has besides", () => {
    const own = {
      ...anObject('Service', { name: 'web-service', labels: { a: 'b' }, annotations: { c: 'd' } }),
      spec: {
        type: 'NodePort',
        ports: [{ port: 443, targetPort: 1 }, { port: 8080 }],
        selector: { wrong: 'pods' },
      },
    };
    const others = [anObject('Service', { name: 'another' }), own];
    const bundle = aServer({ webhookDefinitions: [aWebhook()] }, ['web'], { others });
    const made = services(bundle, inNs);
    expect(made).toMatchObject([
      {
        metadata: {
          namespace: 'ns',
          labels: { a: 'b' },
          annotations: { c: 'd', 'core.rukpak.io/serving-certificate': 'web-service-cert' },
        },
      },
    ]);
    expect(made[0]?.['spec']).toEqual({
      type: 'NodePort',
      ports: [
        { name: '443', port: 443, targetPort: 9443 },
        { name: 'own-1', port: 8080 },
      ],
      selector: { app: 'web' },
    });
    expect(uniqueObjects([...otherObjects(bundle, inNs), ...made])).toHaveLength(2);
  });

  it('have a name that a Service may have', () => {
    const deploymentName = 'd'.repeat(80);
    const bundle = aServer({ webhookDefinitions: [aWebhook({ deploymentName })] }, [
      deploymentName,
    ]);
    expect(services(bundle, inNs)[0]?.metadata.name).toBe(`${'d'.repeat(55)}-service`);
  });
});

describe('otherObjects', () => {
  it('have no Secret in the place of one with a certificate', () => {
    const secret = { ...anObject('Secret', { name: 'web-service-cert' }), apiVersion: 'v1' };
    const other = { ...secret, metadata: { name: 'another' } };
    const bundle = aServer({ webhookDefinitions: [aWebhook()] }, ['web', 'idle'], {
      others: [secret, other, { ...secret, metadata: { name: 'idle-service-cert' } }],
    });
    const names = otherObjects(bundle, inNs).map(({ metadata }) => metadata.name);
    expect(names).toEqual(['another', 'idle-service-cert']);
  });
});

describe('customResourceDefinitions', () => {
  it('are converted by the webhook that names them, and others left as written', () => {
    const thing = {
      ...anObject('CustomResourceDefinition', { name: 'things.example.com' }),
      spec: { group: 'example.com', conversion: { strategy: 'None' }, unknown: 1n },
    };
    const other = anObject('CustomResourceDefinition', { name: 'others.example.com' });
    const bundle = aServer({ webhookDefinitions: [conversion] }, ['web'], {
      crds: [thing, other],
    });
    const made = customResourceDefinitions(bundle, inNs);
    expect(made).toEqual([
      {
        ...thing,
        metadata: {
          name: 'things.example.com',
          annotations: { 'core.rukpak.io/inject-ca-from': 'ns/web-service-cert' },
        },
        spec: {
          group: 'example.com',
          unknown: 1n,
          conversion: {
            strategy: 'Webhook',
            webhook: {
              clientConfig: {
                service: { namespace: 'ns', name: 'web-service', path: '/convert', port: 443 },
              },
              conversionReviewVersions: ['v1', 'v1beta1'],
            },
          },
        },
      },
      other,
    ]);
    expect(made[1]).toBe(other);
  });

  it('are converted at the root where no path is named', () => {
    const webhookDefinitions = [{ ...conversion, webhookPath: undefined }];
    const crds = [anObject('CustomResourceDefinition', { name: 'things.example.com' })];
    const bundle = aServer({ webhookDefinitions }, ['web'], { crds });
    expect(customResourceDefinitions(bundle, inNs)[0]?.['spec']).toMatchObject({
      conversion: { webhook: { clientConfig: { service: { path: '/' } } } },
    });
  });
});

describe('apiServices', () => {
  const bundle = aServer({
    ownedApiServices: [anOwnedApiService(), anOwnedApiService({ kind: 'Counter' })],
  });

  it("are one for each group and version, with OLM's priorities", () => {
    expect(apiServices(bundle, inNs)).toStrictEqual([
      {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: {
          name: 'v1.metrics.example.com',
          annotations: { 'core.rukpak.io/inject-ca-from': 'ns/web-service-cert' },
        },
        spec: {
          group: 'metrics.example.com',
          version: 'v1',
          groupPriorityMinimum: 2000,
          versionPriority: 15,
          service: { namespace: 'ns', name: 'web-service', port: 443 },
        },
      },
    ]);
  });

  it('come with the two bindings by which their server knows who asks', () => {
    const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace: 'ns' }];
    const apiGroup = 'rbac.authorization.k8s.io';
    expect(apiServiceBindings(bundle, inNs)).toStrictEqual([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'web-service-system:auth-delegator' },
        subjects,
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:auth-delegator' },
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'web-service-auth-reader', namespace: 'kube-system' },
        subjects,
        roleRef: { apiGroup, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      },
    ]);
    expect(apiServiceBindings(aServer({ webhookDefinitions: [aWebhook()] }), inNs)).toEqual([]);
  });
});
