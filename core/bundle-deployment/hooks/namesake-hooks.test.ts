import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { nameOf, objects, v1 } from '../../../test/helpers/bundle-deployment-fixture.ts';
import {
  aHook,
  begin,
  HookedDeployment,
  hookStates,
} from '../../../test/helpers/hooked-deployment.ts';

const { succeeded, broken } = hookStates;
const first = aMigration('v1');
const second = aMigration('v2');

let hooked: HookedDeployment;

beforeEach(() => {
  hooked = new HookedDeployment(first, aHook('after', 'post-install'), second);
});

function aMigration(from: string): KubernetesObject {
  return { ...aHook('migrate', 'pre-install', 'hook-succeeded'), spec: { from } };
}

/** The hooks that ran, with the annotation of their objects. */
function ran(): readonly string[] {
  return hooked.taken().filter((call) => call.includes(' in '));
}

describe('hooks of one event with the same kind and name', () => {
  test('run each in a run of its own', async () => {
    await hooked.settle();
    expect(ran()).toEqual([
      `migrate in pre-install ${begin}`,
      `migrate in pre-install ${begin}#2`,
      `after in post-install ${begin}`,
    ]);
    const specs = hooked.fixture.applier.runHook.mock.calls.map(([{ hook }]) => hook['spec']);
    expect(specs).toMatchObject([{ from: 'v1' }, { from: 'v2' }, undefined]);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test('are no namesakes of other kinds, groups or events', async () => {
    const pod = { ...aHook('migrate', 'pre-install'), apiVersion: 'v1', kind: 'Pod' };
    const other = { ...pod, apiVersion: 'example.com/v1' };
    const later = aHook('migrate', 'post-install');
    hooked.fixture.handler.mockResolvedValue([...objects, first, pod, other, later]);
    await hooked.settle();
    expect(ran().filter((call) => call.includes('#'))).toEqual([]);
  });

  test('are namesakes in another version, and where one leaves its namespace to core', async () => {
    const { namespace: _, ...metadata } = second.metadata;
    const placed = { ...second, apiVersion: 'batch/v1beta1', metadata };
    hooked.fixture.handler.mockResolvedValue([...objects, first, placed]);
    await hooked.settle();
    expect(ran()).toContain(`migrate in pre-install ${begin}#2`);
  });

  test('go on in another process where the last one ended, and retry only what failed', async () => {
    hooked.hooksDo(succeeded, broken);
    await hooked.settle();
    hooked.taken();
    hooked.restart();
    hooked.fixture.clock.advance(10_000);
    await hooked.settle();
    expect(ran()[0]).toBe(`migrate in pre-install ${begin}#2 1`);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
  });

  test('delete each its own object', async () => {
    await hooked.settle();
    const removed = hooked.fixture.applier.removeHook.mock.calls.map(([{ run }]) => run);
    expect(removed.slice(0, 2)).toEqual([`pre-install ${begin}`, `pre-install ${begin}#2`]);
  });
});
