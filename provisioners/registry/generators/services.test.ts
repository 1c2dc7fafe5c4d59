import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  anObject,
  anOwnedApiService,
  aServer,
  aWebhook,
} from '../../../test/helpers/registry-bundle.ts';
import { uniqueObjects } from '../bundle/objects.ts';
import { otherObjects } from './other-objects.ts';
import { apiServiceBindings, apiServices, services } from './services.ts';

const inNs = anInstallation({ installNamespace: 'ns' });

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

  it.each([
    ['v1', 'v1'],
    ['no version, as OLM reads it', ''],
  ])("keep other fields of the bundle's own Service of that name, of %s", (_case, apiVersion) => {
    const own = {
      ...anObject('Service', { name: 'web-service', labels: { a: 'b' }, annotations: { c: 'd' } }),
      apiVersion,
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

  it("take nothing from another group's kind of that name", () => {
    const own = { ...anObject('Service', { name: 'web-service' }), apiVersion: 'serving.x/v1' };
    const bundle = aServer({ webhookDefinitions: [aWebhook()] }, ['web'], {
      others: [{ ...own, spec: { type: 'NodePort' } }],
    });
    expect(services(bundle, inNs)[0]?.['spec']).not.toHaveProperty('type');
  });

  it('have a name that a Service may have', () => {
    const deploymentName = 'd'.repeat(80);
    const bundle = aServer({ webhookDefinitions: [aWebhook({ deploymentName })] }, [
      deploymentName,
    ]);
    expect(services(bundle, inNs)[0]?.metadata.name).toBe(`${'d'.repeat(55)}-service`);
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
