import { expect, test } from 'vitest';
import { deploymentApplySetID } from '../../../core/apply/index.ts';
import type { Resource } from '../../../core/platform/kube/index.ts';
import { anOwnedCRD, anOwnedEntry, aResource } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { foreseeDeletion } from './foreseen-deletion.ts';

const kinds = ['Service', 'CustomResourceDefinition.apiextensions.k8s.io'];

function aCluster() {
  const service = anOwnedEntry('Service', { name: 'painter-service' });
  const clientConfig = { service: { namespace: 'n', name: 'painter-service' } };
  const conversion = { strategy: 'Webhook', webhook: { clientConfig } };
  const versions = [
    { name: 'v1', served: true },
    { name: 'v2', served: true, storage: true },
  ];
  const { object } = anOwnedCRD('Gizmo');
  const names = { kind: 'Gizmo', plural: 'gizmos' };
  const crd = { ...object, spec: { group: 'example.com', names, conversion, versions } };
  const labels = { 'applyset.kubernetes.io/id': deploymentApplySetID('demo') };
  const annotations = { 'applyset.kubernetes.io/contains-group-kinds': kinds.join() };
  const deployment = aStoredDeployment({
    metadata: { name: 'demo', uid: 'uid-of-demo', labels, annotations },
  });
  const owner = { ...deployment, spec: { ...deployment.spec, deletionPolicy: 'KeepCRDs' } };
  const byKind = new Map([
    ['BundleDeployment', owner],
    ['CustomResourceDefinition', crd],
    ['Service', service.object],
  ]);
  return {
    client: {
      get: async ({ kind }: Resource) => byKind.get(kind),
      list: async ({ kind }: Resource) => ({
        metadata: { resourceVersion: '1' },
        items: [byKind.get(kind)],
      }),
      delete: async () => undefined,
    },
    discovery: {
      resourceForGroupKind: async (group: string, kind: string) =>
        aResource(group === '' ? kind : `${kind}.${group}`),
    },
  } as never;
}

test('a CRD that stays without its conversion webhook says so', async () => {
  const { signal } = new AbortController();
  const request = { name: 'demo', systemNamespace: 'rukpak-system', signal };
  const { deletes, keeps } = await foreseeDeletion(aCluster(), request);
  expect(deletes).toMatchObject([{ kind: 'Service', name: 'painter-service' }]);
  expect(keeps).toMatchObject([
    {
      kind: 'CustomResourceDefinition',
      note: 'the deletion policy is KeepCRDs; its conversion webhook is deleted',
    },
  ]);
});
