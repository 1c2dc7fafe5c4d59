import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { ObjectKey, ResourceRef } from '../cluster.ts';
import type { AdmissionVerdict } from '../review.ts';
import { crdDeletionValidator } from './crd-deletion.ts';
import type { ObjectPage } from './custom-resources.ts';

const owned = { 'core.rukpak.io/owner-kind': 'BundleDeployment' };

function aCrd(metadata: object = {}, served = true): object {
  return {
    metadata: { name: 'widgets.example.com', labels: owned, ...metadata },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v0', served: false },
        { name: 'v1', served },
      ],
    },
  };
}

function aPage(metadata: KubernetesObject['metadata'], remainingItemCount?: number): ObjectPage {
  const item = { apiVersion: 'example.com/v1', kind: 'Widget', metadata };
  return {
    metadata: remainingItemCount === undefined ? {} : { remainingItemCount },
    items: [item],
  };
}

const three = aPage({ name: 'w', namespace: 'ns' }, 2);

interface Cluster {
  /** As the API server has it; a CRD of the review's name where absent. */
  readonly live?: object | Error;
  readonly list: (resource: ResourceRef) => Promise<ObjectPage>;
}

async function judge(oldObject: unknown, { live, list }: Cluster): Promise<AdmissionVerdict> {
  const get = async (_: ResourceRef, { name }: ObjectKey): Promise<KubernetesObject> => {
    const found = live ?? aCrd({ name });
    if (found instanceof Error) throw found;
    return found as KubernetesObject;
  };
  const request = { uid: 'u', operation: 'DELETE', oldObject } as const;
  return await crdDeletionValidator({ get, list })(request, new AbortController().signal);
}

const notFound = Object.assign(new Error('not found'), { code: 404 });

test.each([
  [three, '3 custom resources of it exist, e.g. ns/w'],
  [aPage({ name: 'w' }), '1 custom resources of it exist, e.g. /w'],
])('a CRD with objects is not deleted', async (page, told) => {
  expect(await judge(aCrd(), { list: async () => page })).toEqual({
    allowed: false,
    status: {
      code: 403,
      reason: `refusing to delete CRD "widgets.example.com": ${told}; delete them first, or set the annotation "core.rukpak.io/safe-crd-deletion-validation" to "false"`,
    },
  });
});

test.each<[what: string, crd: object, list: () => Promise<ObjectPage>]>([
  ['without objects', aCrd(), async () => ({ metadata: {}, items: [] })],
  [
    'that says so',
    aCrd({ annotations: { 'core.rukpak.io/safe-crd-deletion-validation': 'false' } }),
    async () => three,
  ],
  ['that is being deleted', aCrd({ deletionTimestamp: '2026-01-01T00:00:00Z' }), async () => three],
  ['of somebody else', aCrd({ labels: {} }), async () => three],
  ['that is not served', aCrd({}, false), async () => three],
  ['whose objects are not served', aCrd(), async () => Promise.reject(notFound)],
])('a CRD %s is deleted', async (_what, live, list) => {
  expect(await judge(aCrd(), { live, list })).toEqual({ allowed: true });
});

test('a review lists nothing but the custom resources of the live CRD', async () => {
  const listed: string[] = [];
  const list = async ({ group, plural }: ResourceRef): Promise<ObjectPage> => {
    listed.push(`${plural}.${group}`);
    return three;
  };
  const forged = aCrd() as { spec: object };
  const names = { plural: 'secrets', kind: 'Secret' };
  const secrets = { ...forged, spec: { ...forged.spec, group: '', names } };
  expect(await judge(secrets, { list })).toMatchObject({ allowed: false });
  expect(listed).toEqual(['widgets.example.com']);
  expect(await judge(secrets, { live: notFound, list })).toEqual({ allowed: true });
  expect(listed).toEqual(['widgets.example.com']);
});

test('objects that cannot be counted are an error, and what is no CRD is one too', async () => {
  const list = async () => Promise.reject(new Error('the API server is away'));
  await expect(judge(aCrd(), { list })).rejects.toThrow('the API server is away');
  expect((await judge({ metadata: {} }, { list })).status).toMatchObject({ code: 400 });
});
