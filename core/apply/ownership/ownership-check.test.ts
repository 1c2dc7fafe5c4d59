import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { OwnershipCheck } from './ownership-check.ts';

const someOwners = () => new OwnerStates(new ManualClock());

const desired = aDesiredObject({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n' },
});

function aCheck(wanted = desired) {
  const owners = someOwners();
  const reads: string[] = [];
  const get = async (_resource: unknown, { name }: { readonly name: string }) => {
    reads.push(name);
    if (name !== 'giver') throw new ApiError(404, { reason: 'NotFound' });
    const annotations = { 'core.rukpak.io/hand-over': 'taker' };
    return aStoredDeployment({ name, metadata: { name, annotations } });
  };
  const check = new OwnershipCheck({ client: { get }, owners, systemNamespace: 'rukpak-system' });
  const run = (name: string) =>
    check.run({
      owner: aStoredDeployment({ name }),
      operation: 'install',
      desired: [wanted],
      pending: [{ desired: wanted, live: undefined, repair: false }],
      presentAs: () => undefined,
      readsFirst: () => true,
      client: { get },
      signal: AbortSignal.timeout(120_000),
    });
  return { run, owners, reads };
}

test('of two that want an object at the same moment one gets it', async () => {
  const { run } = aCheck();
  const outcomes = await Promise.allSettled([run('one'), run('two')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

describe('hooks whose place is taken', () => {
  const object = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'job', namespace: 'n' } };
  const hook = aDesiredObject(object);
  const owner = aStoredDeployment();

  async function run(
    live: readonly object[],
    hooksNext: boolean,
    hooks = [hook, hook],
  ): Promise<unknown> {
    const get = async (_resource: unknown, { name }: { readonly name: string }) => {
      const found = (live as readonly KubernetesObject[]).find(
        (each) => each.metadata.name === name,
      );
      if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
      return found;
    };
    const options = { client: { get }, owners: someOwners(), systemNamespace: 'rukpak-system' };
    return await new OwnershipCheck(options).run({
      owner,
      operation: 'upgrade',
      desired: [desired],
      pending: [{ desired, live: undefined, repair: false }],
      // A bundle may have several of one name.
      hooks,
      hooksNext,
      presentAs: ({ resource }) => resource,
      readsFirst: () => true,
      client: { get },
      signal: AbortSignal.timeout(120_000),
    });
  }

  test('are in the refusal of the set, and its command adopts all', async () => {
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'n' } };
    await expect(run([theirs, object], false)).rejects.toThrow(
      /Job "job" in namespace "n" exists .* core\.rukpak\.io\/adopt=ConfigMap\/n\/c,Job\/n\/job$/,
    );
  });

  test('refuse the set where they run next', async () => {
    await expect(run([object], true)).rejects.toThrow(/rename it, .*adopt=Job\/n\/job$/);
    await expect(run([], true)).resolves.toHaveLength(1);
    await expect(run([object], false)).resolves.toHaveLength(1);
  });

  test('refuse nothing where they are Namespaces, which are used', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'space' } };
    await expect(run([namespace], true, [aDesiredObject(namespace)])).resolves.toHaveLength(1);
  });
});

test('of two that want a namespace at the same moment both go on', async () => {
  const metadata = { name: 'shared' };
  const namespace = aDesiredObject({ apiVersion: 'v1', kind: 'Namespace', metadata });
  const { run } = aCheck(namespace);
  const outcomes = await Promise.allSettled([run('one'), run('two')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
});

test('a transfer moves the claim, and reads no deployment without need', async () => {
  const { run, owners, reads } = aCheck();
  await run('giver');
  expect(reads).toEqual([]);
  await run('taker');
  expect(owners.of('giver').otherHolder(desired.id)).toBe('taker');
  await expect(run('third')).rejects.toThrow('it belongs to BundleDeployment "taker"');
});

test.each([
  ['shop', { name: 'shop', namespace: 'shop' }],
  // RukPak's own release, whose record a way back needs.
  ['rukpak-system', undefined],
])(
  'an adopted object of a Helm release in namespace %s names it',
  async (namespace, adoptedFrom) => {
    const annotations = {
      'meta.helm.sh/release-name': 'shop',
      'meta.helm.sh/release-namespace': namespace,
    };
    const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
    const metadata = { name: 'c', namespace: 'n', annotations, labels };
    const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    const get = async () => live;
    const options = { client: { get }, owners: someOwners(), systemNamespace: 'rukpak-system' };
    const { spec, ...stored } = aStoredDeployment({ name: 'shop' });
    const checked = await new OwnershipCheck(options).run({
      owner: { ...stored, spec: { ...spec, adoption: 'Always' } },
      operation: 'install',
      desired: [desired],
      pending: [{ desired, live: undefined, repair: false }],
      presentAs: ({ resource }) => resource,
      readsFirst: () => true,
      client: { get },
      signal: AbortSignal.timeout(120_000),
    });
    expect(checked[0]?.adoptedFrom).toEqual(adoptedFrom);
  },
);
