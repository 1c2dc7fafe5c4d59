import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { deploymentApplySetID } from '../../../core/apply/index.ts';
import { ApiError, type ObjectKey, type Resource } from '../../../core/platform/kube/index.ts';
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

function aCoreDeployment(name: string, ...args: readonly string[]): KubernetesObject {
  const containers = [{ name, args }];
  const metadata = { name, namespace: 'rukpak-system' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { template: { spec: { containers } } },
  };
}

/** Deployments of the system by name; a number refuses them with that HTTP status. */
type Processes = readonly KubernetesObject[] | number;

async function foreseenWith(processes: Processes, className = 'core-rukpak-io-plain') {
  const { object: crd } = anOwnedCRD('Gizmo');
  const annotations = { 'applyset.kubernetes.io/contains-group-kinds': kinds[1] ?? '' };
  const labels = { 'applyset.kubernetes.io/id': deploymentApplySetID('demo') };
  const owner = aStoredDeployment({
    className,
    metadata: { name: 'demo', uid: 'uid-of-demo', labels, annotations },
  });
  const answer = ({ kind }: Resource, { name }: ObjectKey): KubernetesObject => {
    if (kind === 'BundleDeployment') return owner;
    const found =
      typeof processes === 'number'
        ? undefined
        : processes.find(({ metadata }) => metadata.name === name);
    if (found !== undefined) return found;
    const code = typeof processes === 'number' ? processes : 404;
    throw new ApiError(code, { message: 'refused' });
  };
  const cluster = {
    client: {
      get: async (resource: Resource, key: ObjectKey) => answer(resource, key),
      list: async () => ({ metadata: { resourceVersion: '1' }, items: [crd] }),
      delete: async () => undefined,
    },
    discovery: { resourceForGroupKind: async () => aResource(kinds[1] ?? '') },
  } as never;
  const { signal } = new AbortController();
  return await foreseeDeletion(cluster, { name: 'demo', systemNamespace: 'rukpak-system', signal });
}

const keepCRDs = '--default-deletion-policy=KeepCRDs';

test.each<readonly [string, readonly KubernetesObject[]]>([
  ['core', [aCoreDeployment('core', 'core', '--leader-elect', keepCRDs)]],
  [
    'the applying half of core',
    [aCoreDeployment('core', 'unpack'), aCoreDeployment('core-apply', 'apply', keepCRDs)],
  ],
  [
    'the last flag of core',
    [
      aCoreDeployment(
        'core',
        'core',
        '--default-deletion-policy=Delete',
        '--default-deletion-policy',
        'KeepCRDs',
      ),
    ],
  ],
])('without spec.deletionPolicy, %s decides whether a CRD stays', async (_of, processes) => {
  expect(await foreseenWith(processes)).toMatchObject({
    deletes: [],
    keeps: [{ kind: 'CustomResourceDefinition', note: 'the deletion policy is KeepCRDs' }],
  });
});

test('a core without the flag deletes a CRD, unless others need it', async () => {
  const { deletes, keeps } = await foreseenWith([aCoreDeployment('core', 'core')]);
  expect(keeps).toEqual([]);
  const note = 'with its custom resources, unless other BundleDeployments have some';
  expect(deletes).toEqual([{ kind: 'CustomResourceDefinition', name: 'gizmos.example.com', note }]);
});

interface Unknown {
  readonly why: string;
  readonly processes: Processes;
  readonly className?: string;
}

test.each<Unknown>([
  { why: 'core runs outside of the cluster', processes: [] },
  { why: 'the user may not read its Deployment', processes: 403 },
  {
    why: 'two of its Deployments disagree',
    processes: [aCoreDeployment('core', 'core'), aCoreDeployment('core-apply', 'apply', keepCRDs)],
  },
  {
    why: 'its flag has another value',
    processes: [aCoreDeployment('core', 'core', '--default-deletion-policy=$(POLICY)')],
  },
  {
    why: 'another manager may serve the class',
    processes: [aCoreDeployment('core', 'core', keepCRDs)],
    className: 'acme',
  },
])('it is uncertain whether a CRD stays if $why', async ({ processes, className }) => {
  const { deletes } = await foreseenWith(processes, className);
  const note =
    'with its custom resources, unless core runs with --default-deletion-policy KeepCRDs or Orphan';
  expect(deletes).toEqual([{ kind: 'CustomResourceDefinition', name: 'gizmos.example.com', note }]);
});
