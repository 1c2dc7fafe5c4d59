import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import { anOwnedApiService, aServer, aWebhook } from '../../../test/helpers/registry-bundle.ts';
import { apiServiceBindings } from './api-service-bindings.ts';
import { apiServices } from './api-services.ts';

const inNs = anInstallation({ installNamespace: 'ns' });

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
