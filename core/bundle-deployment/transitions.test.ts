import { beforeEach, describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason, progressReason } from '../../api/v1alpha1/conditions.ts';
import { EventList } from '../../test/helpers/event-list.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { DeploymentMemories } from './memory.ts';
import { TransitionEvents } from './transitions.ts';

interface Given {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message?: string;
}

function aDeploymentWith(...conditions: readonly Given[]): BundleDeployment {
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name: 'demo' },
    spec: { provisionerClassName: 'acme', template: {} },
    status: {
      conditions: conditions.map((each) => ({
        message: 'a message',
        lastTransitionTime: '',
        ...each,
      })),
    },
  } as unknown as BundleDeployment;
}

let events: EventList;
let memories: DeploymentMemories;
let clock: ManualClock;
let transitions: TransitionEvents;

beforeEach(() => {
  events = new EventList();
  memories = new DeploymentMemories();
  clock = new ManualClock();
  transitions = new TransitionEvents({ events, clock }, memories);
});

const rows = [
  ['HasValidBundle', 'True', 'UnpackSuccessful', 'Normal'],
  ['HasValidBundle', 'False', 'UnpackFailed', 'Warning'],
  ['HasValidBundle', 'False', 'BundleLoadFailed', 'Warning'],
  ['HasValidBundle', 'Unknown', 'ReconcileFailed', 'Warning'],
  ['Installed', 'True', 'InstallationSucceeded', 'Normal'],
  ['Installed', 'False', 'InstallFailed', 'Warning'],
  ['Installed', 'False', 'UpgradeFailed', 'Warning'],
  ['Installed', 'False', 'ReconcileFailed', 'Warning'],
  ['Installed', 'False', 'ErrorGettingClient', 'Warning'],
  ['Installed', 'False', 'ErrorGettingReleaseState', 'Warning'],
  ['Installed', 'False', 'CreateDynamicWatchFailed', 'Warning'],
  ['Installed', 'False', 'PermissionsMissing', 'Warning'],
  ['Healthy', 'True', 'Healthy', 'Normal'],
  ['Healthy', 'False', 'Unhealthy', 'Warning'],
  // Somebody asked for these; all other reasons of Progressing require an action.
  ['Progressing', 'False', 'Paused', 'Normal'],
  ['Progressing', 'False', 'AwaitingApproval', 'Normal'],
  ['Progressing', 'False', 'WaitingForDependencies', 'Normal'],
  ['Progressing', 'False', 'WaitingForStage', 'Normal'],
  ['Progressing', 'False', 'WaitingForHook', 'Normal'],
  ['Progressing', 'False', 'Deleting', 'Normal'],
  ['Progressing', 'False', 'WaitingForDependents', 'Warning'],
  ['Progressing', 'False', 'RollingBack', 'Warning'],
  ['Progressing', 'False', 'RolledBack', 'Warning'],
  ['Progressing', 'False', 'ProgressDeadlineExceeded', 'Warning'],
  ['Progressing', 'False', 'PruneHeld', 'Warning'],
  ['Progressing', 'False', 'InstallNamespaceChanged', 'Warning'],
  ['Progressing', 'False', 'SeedChanged', 'Warning'],
  ['Progressing', 'False', 'GeneratedValuesChanged', 'Warning'],
  ['Progressing', 'False', 'KindNotServed', 'Warning'],
  ['Drifted', 'True', 'DriftDetected', 'Warning'],
] as const;

test.each(rows)('%s %s for %s is told once, as %s', (...row) => {
  const [type, status, reason, eventType] = row;
  const condition = { type, status, reason };
  const after = aDeploymentWith(condition);
  transitions.record({ before: aDeploymentWith(), after });
  transitions.record({ before: after, after });
  expect(events.taken()).toEqual([`${eventType} ${reason}: a message`]);
  const changed = aDeploymentWith({ ...condition, message: 'another one' });
  transitions.record({ before: after, after: changed });
  expect(events.taken()).toEqual([`${eventType} ${reason}: another one`]);
});

test('what merely repeats another condition is not told', () => {
  const after = aDeploymentWith(
    { type: 'Installed', status: 'False', reason: 'InstallFailed' },
    { type: 'Healthy', status: 'False', reason: 'InstallationStatusFalse' },
  );
  transitions.record({ before: aDeploymentWith(), after });
  expect(events.taken()).toEqual(['Warning InstallFailed: a message']);
});

test('a Bundle that is not unpacked yet is no news', () => {
  const after = aDeploymentWith({
    type: 'HasValidBundle',
    status: 'True',
    reason: 'UnpackPending',
  });
  transitions.record({ before: aDeploymentWith(), after });
  expect(events.taken()).toEqual([]);
});

test('what a Bundle waits for is told as a Warning, from the only condition that has it', () => {
  const pending = { type: 'HasValidBundle', status: 'True', reason: 'UnpackPending' } as const;
  const ready = { type: 'Ready', status: 'False' } as const;
  const reconciling = { type: 'Reconciling', status: 'True' } as const;
  const tell = (reason: string, message: string): readonly string[] => {
    const about = { reason, message };
    const after = aDeploymentWith(pending, { ...ready, ...about }, { ...reconciling, ...about });
    transitions.record({ before: aDeploymentWith(), after });
    return events.taken();
  };
  expect(tell('UnpackPending', 'a message')).toEqual([]);
  expect(tell('UnpackPending', 'a message: no such tag')).toEqual([
    'Warning UnpackPending: a message: no such tag',
  ]);
  expect(tell('ClassNotServed', 'no manager')).toEqual(['Warning ClassNotServed: no manager']);
  expect(tell('Unpacking', 'a message: fetching')).toEqual([]);
  expect(tell('AwaitingUpload', 'a message: no upload')).toEqual([]);
});

describe('an installation', () => {
  const unpacked = { type: 'HasValidBundle', status: 'True', reason: 'UnpackSuccessful' } as const;
  const done = { type: 'Installed', status: 'True', reason: 'InstallationSucceeded' } as const;
  const sick = { type: 'Healthy', status: 'False', reason: 'Unhealthy' } as const;
  const well = { type: 'Healthy', status: 'True', reason: 'Healthy' } as const;
  const unhealthy = aDeploymentWith(unpacked, done, sick);
  const healthy = aDeploymentWith(unpacked, done, well);

  test('that is healthy within seconds is told of by one Event', () => {
    transitions.record({ before: aDeploymentWith(), after: unhealthy });
    expect(events.taken()).toEqual(['Normal InstallationSucceeded: a message']);
    clock.advance(3_000);
    transitions.record({ before: unhealthy, after: healthy });
    clock.advance(20_000);
    transitions.record({ before: healthy, after: healthy });
    expect(events.taken()).toEqual([]);
    transitions.record({ before: healthy, after: unhealthy });
    expect(events.taken()).toEqual(['Warning Unhealthy: a message']);
  });

  test('that stays unhealthy is told of after some seconds, once, and its health when it comes', () => {
    transitions.record({ before: aDeploymentWith(), after: unhealthy });
    events.taken();
    clock.advance(10_000);
    transitions.record({ before: unhealthy, after: unhealthy });
    transitions.record({ before: unhealthy, after: unhealthy });
    expect(events.taken()).toEqual(['Warning Unhealthy: a message']);
    transitions.record({ before: unhealthy, after: healthy });
    expect(events.taken()).toEqual(['Normal Healthy: a message']);
  });

  test('that nobody remembers is told of as it changes', () => {
    transitions.record({ before: aDeploymentWith(), after: unhealthy });
    memories.forget('demo');
    events.taken();
    transitions.record({ before: unhealthy, after: healthy });
    expect(events.taken()).toEqual(['Normal Healthy: a message']);
  });
});

test('these are all reasons that a deployment has', () => {
  const tested = new Set<string>(rows.map(([, , reason]) => reason));
  tested.add('InstallationStatusFalse');
  tested.add('UnpackPending');
  const all = [...Object.values(bundleDeploymentReason), ...Object.values(progressReason)];
  expect(new Set<string>(all)).toEqual(tested);
});
