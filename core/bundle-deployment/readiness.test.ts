import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BundleStatus } from '../../api/v1alpha1/index.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  objects,
  v1,
  v2,
} from '../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { computeStatus } from '../apply/index.ts';
import { TerminalError, WaitingError } from '../errors.ts';

const time = '2026-01-01T00:00:00Z';

/** The result of kstatus for the live deployment. */
function kstatus(fixture: BundleDeploymentFixture): string {
  return computeStatus(fixture.live, fixture.clock.now()).status;
}

function aFixture(...bundles: readonly ReturnType<typeof aBundleOf>[]): BundleDeploymentFixture {
  const fixture = new BundleDeploymentFixture();
  fixture.have(...bundles);
  return fixture;
}

async function installed(): Promise<BundleDeploymentFixture> {
  const fixture = aFixture(aBundleOf(v1));
  await fixture.reconcile();
  fixture.client.calls.length = 0;
  fixture.events.taken();
  return fixture;
}

/** The status of a Bundle that fails to unpack. */
function aBundleStatus(
  phase: string,
  ready: { readonly reason: string; readonly message: string },
  outlook?: 'Reconciling' | 'Stalled',
): BundleStatus {
  const about = { ...ready, lastTransitionTime: time, observedGeneration: 1 };
  return {
    phase,
    conditions: [
      { type: 'Unpacked', status: 'False', lastTransitionTime: time, ...ready },
      { type: 'Ready', status: 'False', ...about },
      ...(outlook === undefined ? [] : [{ type: outlook, status: 'True' as const, ...about }]),
    ],
  };
}

test('Ready where it is installed and healthy, in the write that says so, about its generation', async () => {
  const fixture = await installed();
  expect(fixture.summary).toEqual([
    `Ready True Healthy: Bundle ${nameOf(v1)} is installed and healthy`,
  ]);
  expect(fixture.live.status?.conditions?.at(-1)).toMatchObject({ observedGeneration: 1 });
  expect(kstatus(fixture)).toBe('Current');
  await fixture.reconcile();
  expect(fixture.client.calls).toEqual([]);
});

test('Ready without health where that is not reported', async () => {
  const fixture = new BundleDeploymentFixture(aStoredDeployment(), { reportHealth: false });
  fixture.have(aBundleOf(v1));
  await fixture.reconcile();
  expect(fixture.summary).toEqual([`Ready True Installed: Bundle ${nameOf(v1)} is installed`]);
});

test('not Ready for a changed spec before that is applied, however good the old conditions are', async () => {
  const fixture = await installed();
  fixture.changeSpec({ template: v2 });
  expect(kstatus(fixture)).toBe('InProgress');
  fixture.have(aBundleOf(v2, { phase: 'Unpacking' }));
  await fixture.reconcile();
  expect(fixture.summary[0]).toMatch(
    /^Ready False UnpackPending: Waiting for the .* stays active\)$/,
  );
  expect(kstatus(fixture)).toBe('InProgress');
});

describe('a Bundle that is not unpacked', () => {
  const pending = `Waiting for the ${nameOf(v1)} Bundle to be unpacked`;

  test('has its cause in the condition and in an Event of type Warning', async () => {
    const message = 'Back-off pulling image "example.com/app:v1": not found';
    const status = aBundleStatus('Pending', { reason: 'UnpackPending', message }, 'Reconciling');
    const fixture = aFixture(aBundleOf(v1, status));
    await fixture.reconcile();
    expect(fixture.conditions).toEqual([`HasValidBundle True UnpackPending: ${pending}`]);
    expect(fixture.summary).toEqual([
      `Ready False UnpackPending: ${pending}: ${message}`,
      `Reconciling True UnpackPending: ${pending}: ${message}`,
    ]);
    expect(fixture.events.taken()).toEqual([`Warning UnpackPending: ${pending}: ${message}`]);
    expect(kstatus(fixture)).toBe('InProgress');
    await fixture.reconcile();
    expect(fixture.client.count('patch')).toBe(1);
  });

  test('and awaits an upload, or takes its time, is told as that, without a Warning', async () => {
    for (const reason of ['AwaitingUpload', 'Unpacking']) {
      const fixture = aFixture(aBundleOf(v1, aBundleStatus('Pending', { reason, message: 'x' })));
      await fixture.reconcile();
      expect(fixture.summary[0]).toBe(`Ready False ${reason}: ${pending}: x`);
      expect(fixture.events.taken()).toEqual([]);
    }
  });

  test('and whose class has no manager is reported as that', async () => {
    const ready = { reason: 'ClassNotServed', message: 'no manager' };
    const { conditions } = aBundleStatus('', ready);
    const fixture = aFixture(aBundleOf(v1, { conditions }));
    await fixture.reconcile();
    expect(fixture.summary[0]).toBe(`Ready False ClassNotServed: ${pending}: no manager`);
    expect(fixture.events.taken()).toEqual([`Warning ClassNotServed: ${pending}: no manager`]);
  });

  test.each([
    ['Stalled', 'Failed'],
    ['Reconciling', 'InProgress'],
  ] as const)('and is %s makes the deployment %s', async (outlook, health) => {
    const failure = { reason: 'UnpackFailed', message: 'bad tar' };
    const fixture = aFixture(aBundleOf(v1, aBundleStatus('Failing', failure, outlook)));
    await fixture.reconcile();
    const text = `UnpackFailed: Failed to unpack the ${nameOf(v1)} Bundle: bad tar`;
    expect(fixture.summary).toEqual([`Ready False ${text}`, `${outlook} True ${text}`]);
    expect(kstatus(fixture)).toBe(health);
  });
});

describe('a class', () => {
  test.each([
    [new TerminalError('bad config'), 'Failed', 'Stalled'],
    [new WaitingError('needs a Secret'), 'InProgress', 'Reconciling'],
    [new Error('boom'), 'InProgress', 'Reconciling'],
  ])('that fails with %s makes the deployment %s', async (error, health, outlook) => {
    const fixture = aFixture(aBundleOf(v1));
    fixture.handler.mockRejectedValue(error);
    const said = error.message;
    await fixture.failure();
    const text = `BundleLoadFailed: class "plain", deployment(): ${said}`;
    expect(fixture.summary).toEqual([`Ready False ${text}`, `${outlook} True ${text}`]);
    expect(kstatus(fixture)).toBe(health);
  });
});

describe('a class that takes long', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  function slowly({ handler }: BundleDeploymentFixture) {
    const made = Promise.withResolvers<typeof objects>();
    handler.mockReturnValue(made.promise);
    return made;
  }

  test('is named while it works, and the outcome takes its place', async () => {
    const fixture = aFixture(aBundleOf(v1));
    const made = slowly(fixture);
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(fixture.summary).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(fixture.summary).toEqual([
      'Ready False ClassAtWork: class "plain", deployment() is at work',
      'Reconciling True ClassAtWork: class "plain", deployment() is at work',
    ]);
    expect(kstatus(fixture)).toBe('InProgress');
    made.resolve(objects);
    await reconciled;
    expect(fixture.summary).toEqual([
      `Ready True Healthy: Bundle ${nameOf(v1)} is installed and healthy`,
    ]);
    expect(fixture.events.taken()).toEqual([
      `Normal InstallationSucceeded: Instantiated bundle ${nameOf(v1)} successfully`,
    ]);
  });

  test('is named before the status says what is about to be replaced', async () => {
    const fixture = await installed();
    const made = slowly(fixture);
    fixture.changeSpec({ template: v2 });
    fixture.have(aBundleOf(v2));
    const announced = Promise.withResolvers<void>();
    const patch = fixture.client.patch.bind(fixture.client);
    vi.spyOn(fixture.client, 'patch').mockImplementationOnce(async (...request) => {
      await announced.promise;
      return await patch(...request);
    });
    let applied: BundleDeploymentFixture['status'] | undefined;
    fixture.applier.apply.mockImplementationOnce(async () => {
      await announced.promise;
      await vi.advanceTimersByTimeAsync(1);
      applied = fixture.status;
      return { changes: 1, complete: true };
    });
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(10_000);
    made.resolve(objects);
    await vi.advanceTimersByTimeAsync(1);
    announced.resolve();
    await reconciled;
    expect(applied).toMatchObject({ applied: { superseded: true } });
  });

  test('is not waited for to apply a deployment that was paused meanwhile', async () => {
    const fixture = aFixture(aBundleOf(v1));
    const made = slowly(fixture);
    const reconciled = fixture.reconcile();
    fixture.client.put({ ...fixture.live, spec: { ...fixture.live.spec, paused: true } });
    await vi.advanceTimersByTimeAsync(10_000);
    made.resolve(objects);
    expect(await reconciled).toEqual({ requeueAfter: 1_000 });
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    await fixture.reconcile();
    expect(fixture.conditions).toContainEqual(expect.stringMatching('Progressing False Paused'));
  });

  test('is not told of what is Ready: after a restart every class works again', async () => {
    const first = await installed();
    const fixture = new BundleDeploymentFixture(first.live);
    fixture.have(aBundleOf(v1));
    const made = slowly(fixture);
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fixture.client.calls).toEqual([]);
    made.resolve(objects);
    await reconciled;
    expect(fixture.client.count('patch')).toBe(0);
  });
});

test('a failed upgrade says which Bundle stays, and is over when it succeeds', async () => {
  const fixture = await installed();
  fixture.changeSpec({ template: v2 });
  fixture.have(aBundleOf(v1), aBundleOf(v2));
  fixture.applier.apply.mockRejectedValueOnce(new Error('field is immutable'));
  await fixture.failure();
  const text = `UpgradeFailed: Bundle ${nameOf(v2)} is not installed: field is immutable (Bundle ${nameOf(v1)} stays active)`;
  expect(fixture.summary).toEqual([`Ready False ${text}`, `Reconciling True ${text}`]);
  expect(fixture.conditions).toContain('Installed False UpgradeFailed: field is immutable');
  await fixture.reconcile();
  expect(fixture.summary).toEqual([
    `Ready True Healthy: Bundle ${nameOf(v2)} is installed and healthy`,
  ]);
});

test('bad health is not Ready, in one line, and neither at work nor stuck', async () => {
  const fixture = aFixture(aBundleOf(v1));
  fixture.applier.health.mockReturnValue([{ message: 'one' }, { message: 'two' }]);
  await fixture.reconcile();
  expect(fixture.summary).toEqual(['Ready False Unhealthy: one; two']);
  expect(kstatus(fixture)).toBe('InProgress');
});

test.each([
  ['Paused', undefined],
  ['PruneHeld', undefined],
  ['KindNotServed', 'Reconciling'],
  ['WaitingForStage', 'Reconciling'],
  ['ProgressDeadlineExceeded', 'Stalled'],
  ['SeedChanged', 'Stalled'],
  ['GeneratedValuesChanged', 'Stalled'],
])('%s is not Ready, and %s', async (reason, outlook) => {
  const fixture = aFixture(aBundleOf(v1));
  const blocked = { reason, message: 'because' };
  fixture.applier.apply.mockResolvedValue({ changes: 1, complete: true, blocked });
  await fixture.reconcile();
  expect(fixture.summary).toEqual([
    `Ready False ${reason}: because`,
    ...(outlook === undefined ? [] : [`${outlook} True ${reason}: because`]),
  ]);
});

test('a failure that says nothing new leaves a Ready deployment Ready', async () => {
  const fixture = await installed();
  fixture.applier.health.mockImplementationOnce(() => {
    throw new Error('not now');
  });
  await fixture.failure();
  expect(fixture.summary).toHaveLength(1);
  expect(fixture.client.calls).toEqual([]);
});

test('a request counts as reconciled only after the attempt of which a good status tells', async () => {
  const fixture = await installed();
  const { metadata, ...rest } = fixture.live;
  const annotations = { ...metadata.annotations, [annotation.reconcileRequestedAt]: 'now' };
  fixture.change({ ...rest, metadata: { ...metadata, annotations } });
  fixture.applier.health.mockImplementationOnce(() => {
    throw new Error('not now');
  });
  await fixture.failure();
  expect(fixture.summary[0]).toMatch(/^Ready True /);
  expect(fixture.live.status?.lastHandledReconcileAt).toBeUndefined();
  await fixture.reconcile();
  expect(fixture.live.status?.lastHandledReconcileAt).toBe('now');
});

test('a deletion that waits is not Ready', async () => {
  const metadata = { deletionTimestamp: time, finalizers: [finalizer.deleteObjects] };
  const fixture = new BundleDeploymentFixture(aStoredDeployment({ metadata }));
  fixture.applier.remove.mockRejectedValue(new WaitingError('deletion waits for a Namespace'));
  await fixture.failure();
  expect(fixture.summary[0]).toMatch(/^Ready False Deleting: /);
  expect(kstatus(fixture)).toBe('Terminating');
});

test('secrets are cut out before a long text is cut', async () => {
  const fixture = aFixture(aBundleOf(v1));
  const text = `${'x'.repeat(1_000)} https://user:hunter2${'y'.repeat(100)}@example.com`;
  fixture.handler.mockRejectedValue(new Error(text));
  await fixture.failure();
  const [ready = ''] = fixture.summary;
  expect(ready).not.toContain('hunter2');
  expect(ready.length).toBeLessThan(1_100);
});
