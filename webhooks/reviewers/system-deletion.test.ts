import { expect, test } from 'vitest';
import { ApiError } from '../../core/platform/kube/index.ts';
import type { AdmissionVerdict } from '../review.ts';
import { type SystemDeletionOptions, systemDeletionValidator } from './system-deletion.ts';

type List = SystemDeletionOptions['client']['list'];

const crd = { kind: 'CustomResourceDefinition', metadata: { name: 'bundles.core.rukpak.io' } };
const namespace = { kind: 'Namespace', metadata: { name: 'rukpak-system' } };
const item = { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'BundleDeployment', metadata: {} };

/** So many of each plural. */
function having(counts: Readonly<Record<string, number>>): List {
  return async ({ plural }) => {
    const count = counts[plural] ?? 0;
    if (count === 0) return { metadata: {}, items: [] };
    return { metadata: count > 1 ? { remainingItemCount: count - 1 } : {}, items: [item] };
  };
}

async function judge(oldObject: unknown, list: List): Promise<AdmissionVerdict> {
  const request = { uid: 'u', operation: 'DELETE', oldObject } as const;
  const validator = systemDeletionValidator({ client: { list }, systemNamespace: 'rukpak-system' });
  return await validator(request, new AbortController().signal);
}

test.each<[what: object, counts: Readonly<Record<string, number>>, told: string]>([
  [
    crd,
    { bundledeployments: 3, bundles: 4 },
    'CustomResourceDefinition "bundles.core.rukpak.io": 3 BundleDeployments exist, and the API server would delete them too',
  ],
  [
    crd,
    { bundles: 1 },
    'CustomResourceDefinition "bundles.core.rukpak.io": 1 Bundle exists, and the API server would delete them too',
  ],
  [
    { kind: 'Namespace', metadata: { name: 'rukpak-uploads' } },
    { bundles: 2 },
    'Namespace "rukpak-uploads": 2 Bundles exist, and it holds the uploads of their content',
  ],
  [
    namespace,
    { bundledeployments: 1 },
    'Namespace "rukpak-system": 1 BundleDeployment exists, and it holds Secret "rukpak-seed" and the uploads of their content',
  ],
])('%j is not deleted while there are %j', async (object, counts, told) => {
  const wayOut =
    'To remove RukPak and keep everything, run "rukpak uninstall"; to delete everything, first run "kubectl delete bundledeployments,bundles --all". ' +
    'If "kubectl delete -f" has gone on and deleted RukPak\'s webhooks, nothing refuses the next deletion: apply RukPak\'s manifests again first';
  expect(await judge(object, having(counts))).toEqual({
    allowed: false,
    status: { code: 403, reason: `refusing to delete ${told}. ${wayOut}` },
  });
});

test('a CRD of OLM 1.0 is not deleted while there are objects of its kind, whatever else there is', async () => {
  const name = 'operators.operators.operatorframework.io';
  const labels = { 'app.kubernetes.io/part-of': 'rukpak' };
  const object = { kind: 'CustomResourceDefinition', metadata: { name, labels } };
  const verdict = await judge(object, having({ operators: 2 }));
  expect(verdict.status?.reason).toBe(
    `refusing to delete CustomResourceDefinition "${name}": 2 Operators exist, and the API server would delete them too. To remove RukPak and keep everything, run "rukpak uninstall"; to delete everything, first run "kubectl delete ${name} --all". If "kubectl delete -f" has gone on and deleted RukPak's webhooks, nothing refuses the next deletion: apply RukPak's manifests again first`,
  );
  const others = having({ bundledeployments: 1, catalogs: 1, clusterextensions: 1 });
  expect(await judge(object, others)).toEqual({ allowed: true });
});

test.each([
  ['another CRD', 'CustomResourceDefinition', { name: 'widgets.example.com' }],
  [
    'a CRD of OLM 1.0 that another project installed',
    'CustomResourceDefinition',
    { name: 'operators.operators.operatorframework.io' },
  ],
  ['another kind', 'Pod', { name: 'bundles.core.rukpak.io' }],
])('%s is nothing to ask about', async (_what, kind, metadata) => {
  const list = async () => Promise.reject(new Error('asked'));
  expect(await judge({ kind, metadata }, list)).toEqual({ allowed: true });
});

test.each<[what: string, object: object, list: List]>([
  ['while there is none', crd, having({})],
  [
    'while their kinds are not served',
    namespace,
    async () => Promise.reject(new ApiError(404, { message: 'not found' })),
  ],
  [
    'that is being deleted already',
    { ...crd, metadata: { ...crd.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    having({ bundledeployments: 3 }),
  ],
])('one is deleted %s', async (_what, object, list) => {
  expect(await judge(object, list)).toEqual({ allowed: true });
});

test('what cannot be counted is an error, and so is no object', async () => {
  const failing = async () => Promise.reject(new Error('the API server is away'));
  await expect(judge(crd, failing)).rejects.toThrow('the API server is away');
  expect((await judge(undefined, failing)).status?.code).toBe(400);
});
