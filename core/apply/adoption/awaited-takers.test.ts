import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { Inventory } from '../inventory/inventory.ts';
import { AwaitedTakers } from './awaited-takers.ts';

const resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const metadata = { name: 'c', namespace: 'n', resourceVersion: '1' };
const dropped = [new Inventory().put(resource, { apiVersion: 'v1', kind: 'ConfigMap', metadata })];

let clock: ManualClock;
let woken: string[];

beforeEach(() => {
  clock = new ManualClock();
  woken = [];
});

function takersAmong(...deployments: readonly BundleDeployment[]): AwaitedTakers {
  const get = async (_resource: unknown, { name }: { readonly name: string }) => {
    const found = deployments.find((each) => each.metadata.name === name);
    if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
    return found;
  };
  const { signal } = new AbortController();
  return new AwaitedTakers({
    client: { get },
    clock,
    signal,
    notify: (owner) => woken.push(owner),
  });
}

function aGiver(handOver?: string): BundleDeployment {
  const annotations = handOver === undefined ? {} : { 'core.rukpak.io/hand-over': handOver };
  return aStoredDeployment({ metadata: { name: 'demo', annotations } });
}

function condition(type: string, reason: string, status: 'True' | 'False' = 'True') {
  return { type, status, reason, message: '', lastTransitionTime: '' };
}

const [valid, installed] = [
  condition('HasValidBundle', 'UnpackSuccessful'),
  condition('Installed', 'InstallationSucceeded'),
];
const settled = { observedGeneration: 1, conditions: [valid, installed] };
const { signal } = new AbortController();

test.each([
  ['is new', undefined],
  ['has a spec that it has not looked at', { ...settled, observedGeneration: 0 }],
  [
    'unpacks another Bundle',
    { ...settled, conditions: [condition('HasValidBundle', 'UnpackPending'), installed] },
  ],
  [
    'was refused',
    { ...settled, conditions: [valid, condition('Installed', 'InstallFailed', 'False')] },
  ],
  [
    'waits for something',
    { ...settled, conditions: [valid, installed, condition('Progressing', 'Paused', 'False')] },
  ],
])('nothing is deleted while one that may take it %s', async (_, status) => {
  const taker = aStoredDeployment({ name: 'taker', ...(status === undefined ? {} : { status }) });
  const takers = takersAmong(taker);
  expect(await takers.holdUp(aGiver('other,taker'), dropped, signal)).toEqual({
    reason: 'PruneHeld',
    message:
      'not deleted: ConfigMap/n/c: BundleDeployment "taker" may take them, and has not brought out ' +
      'its present spec. To delete them: kubectl annotate bundledeployment demo core.rukpak.io/hand-over-',
  });
});

test.each([
  ['nobody is named', aGiver(), []],
  ['nobody of that name exists', aGiver('taker'), []],
  [
    'it has all that it wants',
    aGiver('taker'),
    [aStoredDeployment({ name: 'taker', status: settled })],
  ],
  [
    'it waits with deletions of its own',
    aGiver('taker'),
    [
      aStoredDeployment({
        name: 'taker',
        status: {
          ...settled,
          conditions: [valid, installed, condition('Progressing', 'PruneHeld', 'False')],
        },
      }),
    ],
  ],
])('nothing is waited for where %s', async (_, giver, deployments) => {
  expect(await takersAmong(...deployments).holdUp(giver, dropped, signal)).toBeUndefined();
});

test('the giver looks again after a while, once', async () => {
  const takers = takersAmong(aStoredDeployment({ name: 'taker' }));
  await takers.holdUp(aGiver('taker'), dropped, signal);
  await takers.holdUp(aGiver('taker'), dropped, signal);
  clock.advance(5000);
  await turn();
  expect(woken).toEqual(['demo']);
});
