import { beforeEach, describe, expect, test } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  nameOf,
  objects,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import {
  aHook,
  begin,
  HookedDeployment,
  hookStates,
} from '../../../test/helpers/hooked-deployment.ts';
import { TerminalError } from '../../errors.ts';

const { succeeded, broken } = hookStates;
const migrate = aHook('migrate', 'pre-upgrade');
const announce = aHook('announce', 'post-upgrade');

let hooked: HookedDeployment;

/** Version 1 is installed; of version 2 everything is applied, and its last hook has failed. */
beforeEach(async () => {
  hooked = new HookedDeployment(migrate, announce);
  await hooked.settle();
  hooked.taken();
  hooked.fixture.have(aBundleOf(v2));
  hooked.fixture.changeSpec({ template: v2 });
  hooked.hooksDo(succeeded, broken);
  await hooked.settle();
  expect(hooked.taken()).toContain(`migrate in pre-upgrade ${begin}`);
  expect(hooked.fixture.conditions.join()).toContain('Installed False UpgradeFailed: post-upgrade');
});

const reason = (type: string) =>
  hooked.fixture.status.conditions?.find((condition) => condition.type === type)?.reason;

/** Somebody deletes the Bundle, and core makes it again. */
async function deleteBundle(): Promise<void> {
  const { client, bundles } = hooked.fixture;
  const old = client.peek({ name: nameOf(v2) }) as Bundle;
  client.drop({ name: nameOf(v2) });
  bundles.remove(old);
  await hooked.settle();
  expect(client.peek({ name: nameOf(v2) })?.metadata.uid).not.toBe(old.metadata.uid);
}

/** The Bundle gets so far, and is seen more than once. */
async function bundleIs(phase: 'Pending' | 'Failing' | 'Unpacked'): Promise<void> {
  const { metadata } = hooked.fixture.client.peek({ name: nameOf(v2) }) ?? {};
  hooked.fixture.have({ ...aBundleOf(v2, { phase }), ...(metadata && { metadata }) });
  await hooked.settle();
  await hooked.settle();
}

describe('an upgrade that is applied in part', () => {
  test('goes on where its Bundle was deleted meanwhile, and runs no hook again', async () => {
    await deleteBundle();
    await bundleIs('Pending');
    expect(hooked.taken()).toEqual([]);
    expect(reason('HasValidBundle')).toBe('UnpackPending');
    hooked.fixture.clock.advance(10_000);
    await bundleIs('Unpacked');
    expect(hooked.taken()).toEqual(['apply', `announce in post-upgrade ${begin} 1`, 'apply']);
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test.each(['Pending', 'Failing'] as const)(
    'stays as it is where its Bundle is %s again',
    async (phase) => {
      await bundleIs(phase);
      expect(hooked.taken()).toEqual([]);
      expect(hooked.fixture.status.activeBundle).toBe(nameOf(v1));
      expect(reason('Installed')).toBe('UpgradeFailed');
    },
  );

  test.each([
    ['this process', () => undefined],
    ['a process that only knows the status', () => hooked.restart()],
  ])(
    'stays as it is for %s where spec.installNamespace names another namespace',
    async (_, start) => {
      const { installNamespace } = hooked.fixture.status;
      start();
      hooked.fixture.changeSpec({ installNamespace: 'other' });
      await hooked.settle();
      await hooked.settle();
      expect(hooked.taken()).toEqual([]);
      expect(reason('Progressing')).toBe('InstallNamespaceChanged');
      hooked.fixture.clock.advance(10_000);
      hooked.fixture.changeSpec({ ...(installNamespace && { installNamespace }) });
      await hooked.settle();
      expect(hooked.taken()).toEqual(['apply', `announce in post-upgrade ${begin} 1`, 'apply']);
      expect(hooked.fixture.status.activeBundle).toBe(nameOf(v2));
    },
  );

  test('stays as it is for a process that only knows the status', async () => {
    hooked.restart();
    const { metadata } = hooked.fixture.client.peek({ name: nameOf(v2) }) ?? {};
    hooked.fixture.have({ ...aBundleOf(v2, { phase: 'Pending' }), ...(metadata && { metadata }) });
    await hooked.settle();
    expect(hooked.taken()).toEqual([]);
  });

  describe('and gives way to the Bundle of another template that waits', () => {
    beforeEach(async () => {
      hooked.fixture.have(aBundleOf(v3, { phase: 'Pending' }));
      hooked.fixture.changeSpec({ template: v3 });
      await hooked.settle();
      expect(hooked.taken()).toEqual(['apply']);
    });

    test('runs no completed hook again afterwards', async () => {
      hooked.fixture.clock.advance(10_000);
      hooked.fixture.changeSpec({ template: v2 });
      await hooked.settle();
      expect(hooked.taken()).toEqual(['apply', `announce in post-upgrade ${begin} 1`, 'apply']);
    });
  });

  test('and is reverted, is another upgrade the next time: its hooks run again', async () => {
    hooked.fixture.changeSpec({ template: v1 });
    await hooked.settle();
    expect(hooked.fixture.status.hooks).toEqual({ applied: expect.any(String) });
    hooked.fixture.clock.advance(10_000);
    hooked.fixture.have(aBundleOf(v2));
    hooked.fixture.changeSpec({ template: v2 });
    hooked.taken();
    await hooked.settle();
    expect(hooked.taken()).toContain('migrate in pre-upgrade 2026-01-01T00:00:10.000Z');
  });
});

test('a config that cannot be rendered loses no hook of one that has begun', async () => {
  hooked = new HookedDeployment(migrate, announce);
  hooked.fixture.handler.mockImplementation(async (_, { spec: { config } }) => {
    if (config?.['size'] === 'x') throw new TerminalError('no such size');
    return [...objects, { ...migrate, spec: config }, announce];
  });
  await hooked.settle();
  hooked.fixture.changeSpec({ config: { size: 2 } });
  hooked.hooksDo(succeeded, broken);
  await hooked.settle();
  const { run } = hooked.fixture.status.hooks ?? {};
  expect(run).toMatchObject({ event: 'post-upgrade' });
  hooked.fixture.changeSpec({ config: { size: 'x' } });
  await hooked.fixture.failure();
  expect(hooked.fixture.status.hooks?.run).toEqual(run);
});
