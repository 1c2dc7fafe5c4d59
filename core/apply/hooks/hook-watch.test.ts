import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { awaitHook, HookWatch, hookOutcome, noteHookEnd } from './hook-watch.ts';

describe('hook watch', () => {
  let woken: string[];
  let owners: OwnerStates;
  let watch: HookWatch;

  const annotations = { 'core.rukpak.io/hook-run': 'run' };
  const running = anOwnedEntry('Job.batch', { name: 'migrate', metadata: { annotations } });
  const object = {
    ...running.object,
    status: { conditions: [{ type: 'Complete', status: 'True' }] },
  };
  const complete = { ...running, object };

  beforeEach(() => {
    woken = [];
    owners = new OwnerStates(new ManualClock());
    watch = new HookWatch(owners, (owner) => void woken.push(owner));
  });

  function waitFor(id: string, run: string) {
    return awaitHook(owners.of('demo'), id, run);
  }

  function changed(entry: InventoryEntry): void {
    watch.hear({ type: 'changed', entry, origin: 'watch' });
  }

  function removed(entry: InventoryEntry): void {
    watch.hear({ type: 'removed', entry, origin: 'watch' });
  }

  test('an owner is woken once its hook has ended, and when it is gone', () => {
    waitFor(running.id, 'run');
    changed(running);
    expect(woken).toEqual([]);
    changed(complete);
    expect(woken).toEqual(['demo']);
    removed(complete);
    expect(woken).toEqual(['demo', 'demo']);
  });

  test('how a hook has ended is known though it is gone, until something else is waited for', () => {
    expect(waitFor(running.id, 'run')).toBeUndefined();
    changed(complete);
    removed(complete);
    expect(waitFor(running.id, 'run')).toEqual({ state: 'succeeded' });
    expect(waitFor(running.id, 'another')).toBeUndefined();
    changed(complete);
    expect(waitFor(running.id, 'another')).toBeUndefined();
  });

  test('an owner that knows how its hook has ended is not woken again, and may ask again', () => {
    waitFor(running.id, 'run');
    noteHookEnd(owners.of('demo'), { state: 'succeeded' });
    changed(complete);
    removed(complete);
    expect(woken).toEqual([]);
    expect(waitFor(running.id, 'run')).toEqual({ state: 'succeeded' });
  });

  test('an owner waits for one hook at a time, until it is forgotten', () => {
    waitFor(running.id, 'run');
    waitFor('another', 'run');
    changed(complete);
    expect(woken).toEqual([]);
    waitFor(running.id, 'run');
    owners.forget('demo');
    changed(complete);
    removed(complete);
    expect(woken).toEqual([]);
  });
});

describe('hook outcome', () => {
  const running = { state: 'running' };
  const succeeded = { state: 'succeeded' };

  function condition(type: string, text: object = {}): object {
    return { conditions: [{ type, status: 'True', ...text }] };
  }

  test.each<[what: string, apiVersion: string, kind: string, status: object, outcome: object]>([
    ['a Job that was just made', 'batch/v1', 'Job', {}, running],
    ['a Job with a Pod', 'batch/v1', 'Job', { active: 1, startTime: 'now' }, running],
    ['a Job that may succeed', 'batch/v1', 'Job', condition('SuccessCriteriaMet'), running],
    ['a Job that is complete', 'batch/v1', 'Job', condition('Complete'), succeeded],
    [
      'a Job that has failed',
      'batch/v1',
      'Job',
      condition('Failed', { reason: 'BackoffLimitExceeded', message: 'too many tries' }),
      { state: 'failed', reason: 'too many tries (BackoffLimitExceeded)' },
    ],
    [
      'a Job that has failed for no reason',
      'batch/v1',
      'Job',
      condition('Failed'),
      { state: 'failed', reason: 'its status gives no reason' },
    ],
    ['a Pod that runs', 'v1', 'Pod', { phase: 'Running' }, running],
    ['a Pod that has succeeded', 'v1', 'Pod', { phase: 'Succeeded' }, succeeded],
    [
      'a Pod that was evicted',
      'v1',
      'Pod',
      { phase: 'Failed', reason: 'Evicted', message: 'no memory' },
      { state: 'failed', reason: 'no memory (Evicted)' },
    ],
    [
      'a Pod whose container has failed',
      'v1',
      'Pod',
      {
        phase: 'Failed',
        containerStatuses: [
          { name: 'ok', state: { terminated: { exitCode: 0 } } },
          { name: 'main', state: { terminated: { exitCode: 3 } } },
        ],
      },
      { state: 'failed', reason: 'container main ended with exit code 3' },
    ],
    [
      'a Pod that says nothing',
      'v1',
      'Pod',
      { phase: 'Failed' },
      { state: 'failed', reason: 'the Pod has failed' },
    ],
    ['anything else', 'v1', 'ConfigMap', {}, succeeded],
    ['a Job of another group', 'example.com/v1', 'Job', {}, succeeded],
  ])('%s', (...row) => {
    const [, apiVersion, kind, status, outcome] = row;
    expect(hookOutcome({ apiVersion, kind, metadata: { name: 'x' }, status })).toEqual(outcome);
  });
});
