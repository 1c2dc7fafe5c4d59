import { expect, test } from 'vitest';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { BundleDeploymentStatus, BundleStatus } from '../../api/v1alpha1/index.ts';
import { aStoredBundle, aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { wantedBundle } from '../bundle-deployment/index.ts';
import { precedence } from '../platform/runtime/index.ts';
import { changedDependencies, claimOfDeployment, giversTo } from './deployment-controller.ts';
import { deploymentCache } from './kinds/kinds.ts';

function on(...names: readonly string[]): BundleDeployment {
  const deployment = aStoredDeployment();
  return {
    ...deployment,
    spec: { ...deployment.spec, dependsOn: names.map((name) => ({ name })) },
  };
}

test.each([
  { type: 'added', before: undefined, now: on('a', 'b'), changed: ['a', 'b'] },
  { type: 'updated', before: on('a', 'b'), now: on('b', 'c'), changed: ['a', 'c'] },
  { type: 'updated', before: on('a'), now: on('a'), changed: [] },
  { type: 'updated', before: aStoredDeployment(), now: aStoredDeployment(), changed: [] },
  { type: 'deleted', before: on('a'), now: on('a'), changed: ['a'] },
] as const)('$type: $changed', ({ type, before, now, changed }) => {
  expect(changedDependencies({ type, object: now, previous: before })).toEqual(changed);
});

function aGiver(name: string, handOver: string): BundleDeployment {
  const annotations = { 'core.rukpak.io/hand-over': handOver };
  return aStoredDeployment({ metadata: { name, annotations } });
}

test('those that hand objects over to a deployment that did not exist look again', () => {
  const deployments = deploymentCache();
  for (const each of [aGiver('a', 'taker'), aGiver('b', 'x, taker'), aGiver('c', 'x')]) {
    deployments.upsert(each);
  }
  const woken: (readonly string[])[] = [];
  deployments.onChange((change) => woken.push(giversTo(deployments, change)));
  const taker = (uid: string, resourceVersion: string) =>
    aStoredDeployment({ metadata: { name: 'taker', uid, resourceVersion } });
  deployments.upsert(taker('1', '1'));
  deployments.upsert(taker('1', '2'));
  // The watch has missed the deletion.
  deployments.replace([...deployments.list(), taker('2', '3')], '3');
  deployments.remove(taker('2', '4'));
  expect(woken).toEqual([['a', 'b'], [], ['a', 'b'], []]);
});

const active = wantedBundle(aStoredDeployment());
const installed: BundleDeploymentStatus = { activeBundle: active, observedGeneration: 1 };
const deletionTimestamp = '2026-01-01T00:00:00Z';

interface Known {
  readonly status?: BundleDeploymentStatus;
  readonly deleted?: boolean;
  readonly phase?: BundleStatus['phase'];
}

function claimOf({ status, deleted = false, phase }: Known) {
  const metadata = { name: 'demo', generation: 1, ...(deleted ? { deletionTimestamp } : {}) };
  const deployment = aStoredDeployment({ metadata, ...(status === undefined ? {} : { status }) });
  const bundle = aStoredBundle({ name: active, status: phase === undefined ? {} : { phase } });
  return claimOfDeployment('demo', {
    deployments: { get: () => deployment },
    bundles: { get: ({ name }) => (name === active ? bundle : undefined) },
  });
}

test.each<[keyof typeof precedence, string, Known]>([
  ['first', 'whose Bundle is to be fetched', {}],
  ['first', 'whose Bundle is being fetched', { phase: 'Unpacking' }],
  ['ready', 'whose Bundle is unpacked', { phase: 'Unpacked' }],
  ['urgent', 'that is installed', { status: installed, phase: 'Unpacked' }],
  [
    'ready',
    'of another config',
    { status: { ...installed, observedGeneration: 0 }, phase: 'Unpacked' },
  ],
  ['first', 'of another template', { status: { ...installed, activeBundle: 'demo-former' } }],
  ['urgent', 'that is deleted', { deleted: true }],
])('a deployment is %s %s', (expected, _, known) => {
  expect(claimOf(known)).toEqual({
    creator: 'deployment demo',
    precedence: precedence[expected],
  });
});

test('one that is gone is to be forgotten at once', () => {
  const nothing = { get: () => undefined };
  const claim = claimOfDeployment('demo', { deployments: nothing, bundles: nothing });
  expect(claim).toEqual({ creator: 'deployment demo', precedence: precedence.urgent });
});
