import { describe, expect, test } from 'vitest';
import type { BundleDeploymentStatus, BundleStatus } from '../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  content,
  nameOf,
  objects,
  unpackedStatus,
  v1,
} from '../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { OutdatedOwnerError } from '../apply/index.ts';
import { defaultLimits } from '../content/index.ts';
import { TerminalError, WaitingError } from '../errors.ts';
import { ApiError } from '../platform/kube/index.ts';

const name = nameOf(v1);
const valid = `HasValidBundle True UnpackSuccessful: Successfully unpacked the ${name} Bundle`;
const installed = `Installed True InstallationSucceeded: Instantiated bundle ${name} successfully`;
const healthy = 'Healthy True Healthy: BundleDeployment is healthy';
const notInstalled = 'Healthy False InstallationStatusFalse: Installed condition is false';

function aFixture(
  bundle: BundleStatus = unpackedStatus,
  status?: BundleDeploymentStatus,
): BundleDeploymentFixture {
  const fixture = new BundleDeploymentFixture(
    aStoredDeployment(status === undefined ? {} : { status }),
  );
  fixture.have(aBundleOf(v1, bundle));
  return fixture;
}

function failing(message: string): BundleStatus {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const condition = { type: 'Unpacked', status: 'False', reason: 'UnpackFailed' } as const;
  return { phase: 'Failing', conditions: [{ ...condition, message, lastTransitionTime }] };
}

describe('HasValidBundle', () => {
  test.each<[string, Error, string]>([
    [
      'a webhook denies it',
      new ApiError(403, { reason: 'bundle.spec.source.git must be set for source type "git"' }),
      'bundle.spec.source.git must be set for source type "git"',
    ],
    [
      'it is invalid',
      new ApiError(422, { reason: 'Invalid', message: 'Bundle.core.rukpak.io "x" is invalid' }),
      'Bundle.core.rukpak.io "x" is invalid',
    ],
    ['nobody answers', new Error('connection refused'), 'connection refused'],
  ])('Unknown where the Bundle cannot be made: %s', async (_, error, message) => {
    const fixture = new BundleDeploymentFixture();
    fixture.client.faults.create = [error];
    expect(await fixture.failure()).toBe(error);
    expect(fixture.conditions).toEqual([`HasValidBundle Unknown ReconcileFailed: ${message}`]);
    expect(fixture.events.taken()).toEqual([`Warning ReconcileFailed: ${message}`]);
  });

  test.each<BundleStatus>([{}, { phase: 'Pending' }, { phase: 'Unpacking' }, { phase: 'Odd' }])(
    'True, yet waiting, for a Bundle of status %o',
    async (status) => {
      const fixture = aFixture(status);
      expect(await fixture.reconcile()).toEqual({});
      const message = `Waiting for the ${name} Bundle to be unpacked`;
      expect(fixture.conditions).toEqual([`HasValidBundle True UnpackPending: ${message}`]);
      expect(fixture.load).not.toHaveBeenCalled();
    },
  );

  test('not told of a Bundle made just now: most are unpacked before it would be read', async () => {
    const fixture = new BundleDeploymentFixture();
    const creationTimestamp = new Date(fixture.clock.now()).toISOString();
    fixture.have(aBundleOf(v1, {}, { creationTimestamp }));
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.wakeAfter).toBe(2_000);
    fixture.clock.advance(1_500);
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.wakeAfter).toBe(500);
    fixture.clock.advance(500);
    await fixture.reconcile();
    expect(fixture.status.observedGeneration).toBe(1);
    expect(fixture.conditions).toEqual([
      `HasValidBundle True UnpackPending: Waiting for the ${name} Bundle to be unpacked`,
    ]);
    expect(fixture.events.taken()).toEqual([]);
  });

  test('told of later where this process unpacks the Bundle: it tells itself of what is slow', async () => {
    const bundleClasses = new Map([['plain', { className: 'plain' }]]);
    const fixture = new BundleDeploymentFixture(aStoredDeployment(), { bundleClasses });
    const creationTimestamp = new Date(fixture.clock.now()).toISOString();
    fixture.have(aBundleOf(v1, {}, { creationTimestamp }));
    fixture.clock.advance(20_000);
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.wakeAfter).toBe(10_000);
    fixture.have(aBundleOf(v1, { phase: 'Unpacking' }, { creationTimestamp }));
    await fixture.reconcile();
    expect(fixture.status.conditions).toMatchObject([{ reason: 'UnpackPending' }]);
  });

  test.each([-60_000, 60_000])(
    'told of at once where the clocks differ by %i ms',
    async (difference) => {
      const fixture = new BundleDeploymentFixture();
      const creationTimestamp = new Date(fixture.clock.now() + difference).toISOString();
      fixture.have(aBundleOf(v1, {}, { creationTimestamp }));
      await fixture.reconcile();
      expect(fixture.status.conditions).toMatchObject([{ reason: 'UnpackPending' }]);
      expect(fixture.wakeAfter).toBeUndefined();
    },
  );

  test('False for a Bundle that fails, with the reason it gives', async () => {
    const fixture = aFixture(failing('source bundle content: denied'));
    expect(await fixture.reconcile()).toEqual({});
    const message = `Failed to unpack the ${name} Bundle: source bundle content: denied`;
    expect(fixture.conditions).toEqual([`HasValidBundle False UnpackFailed: ${message}`]);
    expect(fixture.events.taken()).toEqual([`Warning UnpackFailed: ${message}`]);
  });

  test('False where the content cannot be loaded, and it is tried again', async () => {
    const fixture = aFixture();
    const lost = new Error('unexpected response status "503 Service Unavailable"');
    fixture.load.mockRejectedValue(lost);
    expect(await fixture.failure()).toBe(lost);
    expect(fixture.conditions).toEqual([`HasValidBundle False BundleLoadFailed: ${lost.message}`]);
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('True as before while lost content is on its way back', async () => {
    const leaderBefore = aFixture();
    await leaderBefore.reconcile();
    const fixture = aFixture(unpackedStatus, leaderBefore.status);
    const lost = new WaitingError('the content is lost and being fetched again');
    fixture.load.mockRejectedValue(lost);
    expect(await fixture.failure()).toBe(lost);
    expect(fixture.conditions).toContain(valid);
    expect(fixture.conditions).toEqual(leaderBefore.conditions);
  });

  test('False where the class refuses the content: only a change helps', async () => {
    const fixture = aFixture();
    fixture.handler.mockRejectedValue(new TerminalError('readdir manifests: no such file'));
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.conditions).toEqual([
      'HasValidBundle False BundleLoadFailed: class "plain", deployment(): readdir manifests: no such file',
    ]);
  });

  test('False where the class does not come to an end', async () => {
    const limits = { ...defaultLimits, timeout: 10 };
    const fixture = new BundleDeploymentFixture(aStoredDeployment(), { limits });
    fixture.have(aBundleOf(v1));
    fixture.handler.mockReturnValue(new Promise(() => undefined));
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.conditions).toEqual([
      'HasValidBundle False BundleLoadFailed: class "plain", deployment(): took longer than the limit of 0.01 s (--content-timeout)',
    ]);
  });
});

describe('Installed and Healthy', () => {
  test('True: the objects rendered by the class are applied', async () => {
    const fixture = aFixture();
    expect(await fixture.reconcile()).toEqual({});
    expect(fixture.conditions).toEqual([valid, installed, healthy]);
    expect(fixture.status.activeBundle).toBe(name);
    expect(fixture.status.observedGeneration).toBe(1);
    expect(fixture.load.mock.calls[0]?.[0].metadata.name).toBe(name);
    expect(fixture.handler.mock.calls[0]?.[0]).toBe(content);
    expect(fixture.applier.apply.mock.calls[0]?.[0]).toMatchObject({
      owner: { metadata: { name: 'demo' } },
      objects,
    });
    expect(fixture.events.taken()).toEqual([
      `Normal InstallationSucceeded: Instantiated bundle ${name} successfully`,
    ]);
  });

  test.each([
    'InstallFailed',
    'UpgradeFailed',
    'ReconcileFailed',
    'ErrorGettingReleaseState',
    'CreateDynamicWatchFailed',
  ])('False with reason %s where the engine says so, and it is tried again', async (reason) => {
    const fixture = aFixture();
    fixture.applier.apply.mockRejectedValue(new TerminalError('refused', { reason }));
    const error = await fixture.failure();
    expect(error).toEqual(new Error('refused'));
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(fixture.conditions).toEqual([valid, `Installed False ${reason}: refused`, notInstalled]);
    expect(fixture.status.activeBundle).toBeUndefined();
    expect(fixture.events.taken()).toEqual([
      `Normal UnpackSuccessful: Successfully unpacked the ${name} Bundle`,
      `Warning ${reason}: refused`,
    ]);
  });

  test.each<[string, BundleDeploymentStatus]>([
    ['InstallFailed', {}],
    ['UpgradeFailed', { activeBundle: 'demo-before' }],
  ])('False with reason %s where the engine gives none', async (reason, status) => {
    const fixture = aFixture(unpackedStatus, status);
    fixture.applier.apply.mockRejectedValue(new Error('connection refused'));
    expect(await fixture.failure()).toEqual(new Error('connection refused'));
    expect(fixture.conditions[1]).toBe(`Installed False ${reason}: connection refused`);
    expect(fixture.status.activeBundle).toBe(status.activeBundle);
  });

  test.each([
    ['required resource not found: namespaces "a" not found', 60_000],
    ['error while running post render on files: no matches for kind "A"', 60_000],
    ['refused', undefined],
  ])('%s: an object that others may still create is checked soon', async (message, wait) => {
    const fixture = aFixture();
    fixture.applier.apply.mockRejectedValue(new TerminalError(message));
    await fixture.failure();
    expect(fixture.wakeAfter).toBe(wait);
  });

  test('tell nothing new where the next try fails alike', async () => {
    const fixture = aFixture();
    fixture.applier.apply.mockRejectedValue(new Error('refused'));
    await fixture.failure();
    fixture.events.taken();
    await fixture.failure();
    expect(fixture.client.calls).toEqual(['patch']);
    expect(fixture.events.taken()).toEqual([]);
  });

  test('Unhealthy lists all problems, and looks again: some only time makes worse', async () => {
    const fixture = aFixture();
    fixture.applier.health.mockReturnValue([{ message: 'one' }, { message: 'two' }]);
    const { requeueAfter } = await fixture.reconcile();
    expect(requeueAfter).toBeGreaterThanOrEqual(15_000);
    expect(requeueAfter).toBeLessThanOrEqual(60_000);
    expect(fixture.conditions).toEqual([valid, installed, 'Healthy False Unhealthy: one\ntwo']);
    expect(fixture.status.activeBundle).toBe(name);
    // Bad health right after an installation gets no Event; every later change does.
    expect(fixture.events.taken()).toEqual([expect.stringContaining('InstallationSucceeded')]);
    fixture.clock.advance(16_000);
    fixture.applier.health.mockReturnValue([{ message: 'three' }]);
    await fixture.reconcile();
    expect(fixture.events.taken()).toEqual(['Warning Unhealthy: three']);
    fixture.applier.health.mockReturnValue([]);
    expect(await fixture.reconcile()).toEqual({});
    expect(fixture.conditions[2]).toBe(healthy);
  });

  test('Healthy stays until the rules of spec.health are evaluated after a restart', async () => {
    const fixture = aFixture();
    fixture.applier.health.mockReturnValue([{ message: 'one', unknown: true }]);
    await fixture.reconcile();
    expect(fixture.conditions[2]).toBe('Healthy False Unhealthy: one');
    fixture.applier.health.mockReturnValue([]);
    await fixture.reconcile();
    fixture.applier.health.mockReturnValue([{ message: 'one', unknown: true }]);
    const { requeueAfter } = await fixture.reconcile();
    expect(requeueAfter).toBeLessThanOrEqual(60_000);
    expect(fixture.conditions[2]).toBe(healthy);
    fixture.applier.health.mockReturnValue([{ message: 'one', unknown: true }, { message: 'two' }]);
    await fixture.reconcile();
    expect(fixture.conditions[2]).toBe('Healthy False Unhealthy: one\ntwo');
  });

  test('Healthy is not told of with the gate off', async () => {
    for (const outcome of ['succeeds', 'fails']) {
      const fixture = new BundleDeploymentFixture(aStoredDeployment(), { reportHealth: false });
      fixture.have(aBundleOf(v1));
      fixture.applier.health.mockReturnValue([{ message: 'one' }]);
      if (outcome === 'fails') fixture.applier.apply.mockRejectedValue(new Error('refused'));
      await fixture.failure();
      expect(fixture.conditions).toEqual([
        valid,
        outcome === 'fails' ? 'Installed False InstallFailed: refused' : installed,
      ]);
    }
  });
});

describe('the status is written', () => {
  test('once in a reconcile, for exactly this deployment', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    const [sent] = fixture.client.patches;
    expect(fixture.client.calls).toEqual(['patch']);
    expect(sent?.options).toMatchObject({ type: 'json', subresource: 'status' });
    expect(sent?.patch).toMatchObject([
      { op: 'test', path: '/metadata/uid', value: 'uid-of-demo' },
      { op: 'add', path: '/status' },
    ]);
  });

  test('not at all where nothing changed', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    fixture.events.taken();
    fixture.clock.advance(3_600_000);
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual(['patch']);
    expect(fixture.events.taken()).toEqual([]);
  });

  test('again where the write failed', async () => {
    const fixture = aFixture();
    fixture.client.faults.patch = [new Error('socket hang up')];
    expect(await fixture.failure()).toEqual(new Error('socket hang up'));
    expect(fixture.events.taken()).toEqual([]);
    await fixture.reconcile();
    expect(fixture.conditions).toEqual([valid, installed, healthy]);
  });

  test('not when the process stops: an interrupted apply is no failure', async () => {
    const fixture = aFixture();
    fixture.applier.apply.mockImplementation(() => {
      fixture.stop.abort(new Error('the controller stops'));
      return Promise.reject(new Error('aborted'));
    });
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.client.calls).toEqual([]);
  });

  test('with transition times that move only when a status flips', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    fixture.clock.advance(60_000);
    fixture.applier.health.mockReturnValue([{ message: 'one' }]);
    await fixture.reconcile();
    const times = fixture.status.conditions?.map((condition) => condition.lastTransitionTime);
    expect(times).toEqual(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']);
  });
});

describe('the content', () => {
  test('is loaded and rendered once for a version of the deployment and its Bundle', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    await fixture.reconcile();
    expect(fixture.load).toHaveBeenCalledTimes(1);
    expect(fixture.applier.apply).toHaveBeenCalledTimes(2);
    expect(fixture.applier.apply.mock.lastCall?.[0].objects).toEqual(objects);
    fixture.client.drop({ name });
    fixture.have(aBundleOf(v1, unpackedStatus, { uid: 'made-again' }));
    await fixture.reconcile();
    expect(fixture.load).toHaveBeenCalledTimes(2);
  });
});

describe('left alone is', () => {
  test('a deployment of a class that is not served here, or no longer', async () => {
    const fixture = new BundleDeploymentFixture(aStoredDeployment({ className: 'acme' }));
    expect(await fixture.reconcile()).toEqual({});
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.applier.forget).toHaveBeenCalledWith('demo');
  });

  test.each(['gone', 'being deleted'])('a deployment that is %s', async (state) => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const fixture = new BundleDeploymentFixture(aStoredDeployment({ metadata }));
    const which = state === 'gone' ? 'another' : 'demo';
    expect(await fixture.reconcile(which)).toEqual({});
    expect(fixture.applier.forget).toHaveBeenCalledWith(which);
    expect(fixture.client.calls).toEqual([]);
  });
});

test('a deployment that is deleted while it is installed is no failure', async () => {
  const fixture = new BundleDeploymentFixture();
  fixture.have(aBundleOf());
  fixture.applier.health.mockImplementation(() => {
    fixture.client.drop({ name: 'demo' });
    return [];
  });
  expect(await fixture.failure()).toBeUndefined();
});

describe('a deployment that is not as it is remembered', () => {
  test('is left as it is when the API server’s store went back in time', async () => {
    const fixture = aFixture();
    fixture.applier.confirm.mockRejectedValueOnce(new OutdatedOwnerError('another'));
    expect(await fixture.failure()).toEqual(new OutdatedOwnerError('another'));
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    expect(fixture.client.count('patch')).toBe(0);
  });

  test('is left as it is when core notices that while it applies', async () => {
    const fixture = aFixture();
    fixture.applier.apply.mockRejectedValueOnce(new OutdatedOwnerError('another'));
    expect(await fixture.failure()).toEqual(new OutdatedOwnerError('another'));
    expect(fixture.live.status).toBeUndefined();
  });
});
