import { describe, expect, test } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { BundleDeploymentSpec } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { PrunePolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { anOwnedCRD, anOwnedEntry, aResource } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError, type Resource } from '../../platform/kube/index.ts';
import type { ListOptions, ObjectList } from '../../platform/kube/kube-client.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { guardPrune, pruneDigest, timePrune } from './prune-guard.ts';

interface Given {
  readonly prune?: PrunePolicy;
  readonly defaults?: PrunePolicy;
  readonly wanted?: number;
  readonly confirm?: string;
  /** Names of existing custom resources. */
  readonly present?: readonly string[];
  readonly state?: { confirmedPrunes: ReadonlySet<string> };
}

function aGuard({ prune, defaults, wanted = 0, confirm, present = [], state }: Given) {
  const annotations = confirm === undefined ? {} : { [annotation.confirmPrune]: confirm };
  const deployment = aStoredDeployment({ metadata: { annotations } });
  const lists: (ListOptions | undefined)[] = [];
  const list = async (resource: Resource, options?: ListOptions): Promise<ObjectList> => {
    lists.push(options);
    const items = present.map(
      (name): KubernetesObject => ({
        apiVersion: 'example.com/v1',
        kind: resource.kind,
        metadata: { name, namespace: 'n' },
      }),
    );
    return { metadata: { resourceVersion: '1' }, items: items.slice(0, options?.limit) };
  };
  return {
    owner: { ...deployment, spec: { ...deployment.spec, ...(prune && { prune }) } },
    defaults,
    wanted,
    state: state ?? { confirmedPrunes: new Set<string>() },
    client: { list },
    discovery: {
      resourceForGroupKind: async (group: string, kind: string) => aResource(`${kind}.${group}`),
    },
    signal: new AbortController().signal,
    lists,
  };
}

function configMaps(count: number): InventoryEntry[] {
  return Array.from({ length: count }, (_, i) => anOwnedEntry('ConfigMap', { name: `cm-${i}` }));
}

function namesOf(entries: readonly InventoryEntry[]): string[] {
  return entries.map(({ key }) => key.name);
}

test('without guards everything goes, and nothing is asked', async () => {
  const guard = aGuard({});
  const entries = [anOwnedEntry('Namespace', { name: 'ns' }), anOwnedCRD('Gizmo')];
  expect(await guardPrune(entries, guard)).toEqual({ go: entries, held: [] });
  expect(guard.lists).toEqual([]);
});

test.each([
  { maxPercent: 50, pruned: 5, wanted: 5, held: 0 },
  { maxPercent: 49, pruned: 5, wanted: 5, held: 5 },
  { maxPercent: 99, pruned: 3, wanted: 0, held: 3 },
  { maxPercent: 100, pruned: 3, wanted: 0, held: 0 },
  { maxPercent: 0, pruned: 1, wanted: 1000, held: 1 },
])('maxPercent $maxPercent: $pruned pruned beside $wanted', async (given) => {
  const { maxPercent, pruned, wanted } = given;
  const outcome = await guardPrune(configMaps(pruned), aGuard({ prune: { maxPercent }, wanted }));
  expect(outcome.held).toHaveLength(given.held);
  expect(outcome.go).toHaveLength(pruned - given.held);
});

test('what waits is told, with the command that confirms it', async () => {
  const entries = configMaps(60);
  const { status, message } = await guardPrune(
    entries,
    aGuard({ prune: { maxPercent: 10 }, wanted: 40 }),
  );
  const digest = pruneDigest(entries);
  const reason = '60 of 100 objects would be deleted, more than the 10 % of spec.prune.maxPercent';
  expect(status).toMatchObject({ digest, reason, count: 60 });
  expect(status?.objects).toHaveLength(50);
  expect(status?.objects[0]).toEqual({
    group: '',
    kind: 'ConfigMap',
    namespace: 'n',
    name: 'cm-0',
  });
  expect(message).toBe(
    'not deleted: ConfigMap/n/cm-0, ConfigMap/n/cm-1, ConfigMap/n/cm-2, ConfigMap/n/cm-3, ConfigMap/n/cm-4 and 55 more: ' +
      `${reason}. To delete them: kubectl annotate --overwrite bundledeployment demo core.rukpak.io/confirm-prune=${digest}`,
  );
});

test('the digest confirms exactly these objects; the order does not count, another UID does', () => {
  const [first, second] = [
    anOwnedEntry('ConfigMap', { name: 'a' }),
    anOwnedEntry('ConfigMap', { name: 'b' }),
  ];
  expect(pruneDigest([first, second])).toBe(pruneDigest([second, first]));
  const namesake = anOwnedEntry('ConfigMap', { name: 'b', metadata: { uid: 'another' } });
  expect(pruneDigest([first, namesake])).not.toBe(pruneDigest([first, second]));
  expect(pruneDigest([first])).not.toBe(pruneDigest([first, second]));
});

test('confirmed ones go, also those that could not be deleted at first', async () => {
  const entries = configMaps(3);
  const state = { confirmedPrunes: new Set<string>() };
  const given = { prune: { maxPercent: 10 }, confirm: pruneDigest(entries), state };
  expect((await guardPrune(entries, aGuard(given))).go).toEqual(entries);
  const rest = entries.slice(1);
  expect((await guardPrune(rest, aGuard(given))).go).toEqual(rest);
  const another = [...rest, anOwnedEntry('Secret', { name: 's' })];
  expect(namesOf((await guardPrune(another, aGuard(given))).held)).toEqual(['s']);
  const again = anOwnedEntry('ConfigMap', { name: 'cm-0', metadata: { uid: 'made again' } });
  expect(namesOf((await guardPrune([...rest, again], aGuard(given))).held)).toEqual(['cm-0']);
});

test('confirmed ones wait again where the bundle had them again meanwhile', async () => {
  const entries = configMaps(3);
  const state = { confirmedPrunes: new Set<string>() };
  const given = { prune: { maxPercent: 10 }, confirm: pruneDigest(entries), state };
  await guardPrune(entries, aGuard(given));
  const [, refused, wanted] = entries as [InventoryEntry, InventoryEntry, InventoryEntry];
  await guardPrune([refused], aGuard(given));
  const { go, held } = await guardPrune([refused, wanted], aGuard(given));
  expect([namesOf(go), namesOf(held)]).toEqual([['cm-1'], ['cm-2']]);
});

test('a digest of other deletions is told', async () => {
  const given = { prune: { maxPercent: 10 }, confirm: 'feedfeedfeedfeed' };
  const { held, message } = await guardPrune(configMaps(1), aGuard(given));
  expect(held).toHaveLength(1);
  expect(message).toContain(
    '. Annotation core.rukpak.io/confirm-prune has digest feedfeedfeedfeed, which is of other deletions. To delete',
  );
});

test('with confirmData namespaces wait, and CRDs with custom resources; the rest goes', async () => {
  const entries = [
    anOwnedEntry('Namespace', { name: 'ns' }),
    anOwnedCRD('Gizmo'),
    anOwnedEntry('ConfigMap', { name: 'cm' }),
  ];
  const guard = aGuard({ prune: { confirmData: true }, present: ['mine'] });
  const { go, held } = await guardPrune(entries, guard);
  expect(namesOf(held)).toEqual(['ns', 'gizmos.example.com']);
  expect(namesOf(go)).toEqual(['cm']);
  expect(guard.lists).toMatchObject([{ limit: 1, metadataOnly: true }]);
});

test('a CRD without custom resources goes, and so does one whose last ones go with it', async () => {
  const crd = anOwnedCRD('Gizmo');
  const prune = { confirmData: true };
  expect((await guardPrune([crd], aGuard({ prune }))).held).toEqual([]);
  const entries = [crd, anOwnedEntry('Gizmo.example.com', { name: 'ours' })];
  expect((await guardPrune(entries, aGuard({ prune, present: ['ours'] }))).held).toEqual([]);
  const guard = aGuard({ prune, present: ['ours', 'theirs'] });
  expect(namesOf((await guardPrune(entries, guard)).held)).toEqual(['gizmos.example.com']);
});

test('a CRD whose kind the API server does not serve waits: it may have stored objects', async () => {
  const discovery = { resourceForGroupKind: async () => undefined };
  const guard = { ...aGuard({ prune: { confirmData: true } }), discovery };
  expect(namesOf((await guardPrune([anOwnedCRD('Gizmo')], guard)).held)).toEqual([
    'gizmos.example.com',
  ]);
});

test('so does a CRD of which the listed version is no longer served', async () => {
  const list = async () => {
    throw new ApiError(404, { message: '404 page not found' });
  };
  const guard = { ...aGuard({ prune: { confirmData: true } }), client: { list } };
  expect(namesOf((await guardPrune([anOwnedCRD('Gizmo')], guard)).held)).toEqual([
    'gizmos.example.com',
  ]);
});

test('the cluster’s defaults hold for each field that spec.prune leaves out', async () => {
  const entries = [...configMaps(3), anOwnedEntry('Namespace', { name: 'ns' })];
  const heldBy = async (prune: PrunePolicy | undefined, defaults: PrunePolicy) => {
    const { held, status } = await guardPrune(
      entries,
      aGuard({ ...(prune && { prune }), defaults }),
    );
    return { held: held.length, reason: status?.reason };
  };
  const share =
    '4 of 4 objects would be deleted, more than the 50 % that this cluster has as default';
  const percent = { held: 4, reason: `${share} of spec.prune.maxPercent` };
  expect(await heldBy(undefined, { maxPercent: 50 })).toEqual(percent);
  expect(await heldBy({ confirmData: false }, { maxPercent: 50 })).toEqual(percent);
  expect((await heldBy({ maxPercent: 100 }, { maxPercent: 50 })).held).toBe(0);
  expect((await heldBy({ maxPercent: 100 }, { confirmData: true })).held).toBe(1);
  expect((await heldBy({ confirmData: false }, { confirmData: true })).held).toBe(0);
});

test('what nobody asked to be deleted waits, whatever spec.prune says', async () => {
  const changedFacts = 'API group gizmos.example.com is not served any more';
  const guard = { ...aGuard({ wanted: 9 }), deletionsAsked: false, changedFacts };
  const entries = configMaps(2);
  const { go, status, message } = await guardPrune(entries, guard);
  expect(go).toEqual([]);
  expect(message).toContain(
    'the class no longer renders them from the same template, config and inputs: API group gizmos.example.com is not served any more. To delete them: kubectl annotate',
  );
  const asked = { ...guard, ...aGuard({ wanted: 9, confirm: status?.digest ?? '' }) };
  expect((await guardPrune(entries, asked)).go).toEqual(entries);
});

const plain = anOwnedEntry('ConfigMap', { name: 'plain' });
const data: readonly InventoryEntry[] = [
  anOwnedEntry('PersistentVolumeClaim', { name: 'claim' }),
  anOwnedEntry('PersistentVolume', { name: 'volume' }),
  anOwnedEntry('StatefulSet.apps', { name: 'db' }),
  anOwnedEntry('Namespace', { name: 'ns' }),
  anOwnedCRD('Gizmo'),
  anOwnedEntry('Secret', {
    name: 'filled',
    metadata: { managedFields: [{ manager: 'operator', operation: 'Update' }] } as ObjectMeta,
  }),
];

function timed(spec: Partial<BundleDeploymentSpec>) {
  const problem = '(apps/v1, Kind=Deployment)(n/web): not available';
  const owner = aStoredDeployment();
  const applied = {
    owner: { spec: { ...owner.spec, ...spec } },
    set: { ids: new Set(['web', 'other']) },
    problemOf: (id: string) => (id === 'web' ? problem : undefined),
  };
  const { now, later, blocked } = timePrune([plain, ...data], applied);
  return { now, later, message: blocked?.message };
}

const rollback = { deadline: '5m' };

describe('before everything is healthy', () => {
  test('data waits, and nothing else', () => {
    expect(timed({})).toMatchObject({ now: [plain], later: data });
    expect(timed({ rollback, prune: { when: 'Applied' } })).toMatchObject({ now: [plain] });
  });

  test.each<Partial<BundleDeploymentSpec>>([{ rollback }, { prune: { when: 'Healthy' } }])(
    'everything waits with %j',
    (spec) => {
      const { now, later, message } = timed(spec);
      expect(now).toEqual([]);
      expect(later).toEqual([plain, ...data]);
      expect(message).toBe(
        'not deleted before all objects are healthy: ConfigMap/n/plain, ' +
          'PersistentVolumeClaim/n/claim, PersistentVolume/n/volume, StatefulSet/n/db, ' +
          'Namespace/ns and 2 more. Not healthy: (apps/v1, Kind=Deployment)(n/web): not available. ' +
          'If the new version needs one of these deletions first, delete that object with kubectl',
      );
    },
  );
});

test('nothing waits once everything is healthy', () => {
  const set = { ids: new Set(['web']) };
  const { spec } = aStoredDeployment();
  const applied = { owner: { spec: { ...spec, rollback } }, set, problemOf: () => undefined };
  expect(timePrune([plain, ...data], applied)).toEqual({ now: [plain, ...data], later: [] });
});
