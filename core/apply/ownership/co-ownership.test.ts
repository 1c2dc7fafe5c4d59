import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { fieldConflicts } from '../fields/field-conflicts.ts';
import { CoOwnership } from './co-ownership.ts';

const desired = aDesiredObject({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
});
const owner = aStoredDeployment();

let clock: ManualClock;
let events: { readonly type: string; readonly reason: string; readonly message: string }[];
let coOwnership: CoOwnership;

beforeEach(() => {
  clock = new ManualClock();
  events = [];
  coOwnership = new CoOwnership({
    clock,
    events: { event: (_, event) => void events.push(event) },
  });
});

function withOurs(fields: object, ...others: readonly object[]): KubernetesObject {
  const own = { manager: 'rukpak-core', operation: 'Apply', fieldsV1: { 'f:spec': fields } };
  const metadata = { ...desired.object.metadata, managedFields: [own, ...others] };
  return { ...desired.object, metadata };
}

function others(manager: string, time: string, more: object = {}): object {
  return { manager, operation: 'Update', time, ...more };
}

const all = { 'f:replicas': {}, 'f:paused': {} };

function putBack(manager: string, time: string): void {
  const before = withOurs({ 'f:paused': {} }, others(manager, time));
  coOwnership.putBack(owner, desired, { before, after: withOurs(all) });
}

describe('marks that the cluster does not store', () => {
  function stored(metadata: Partial<KubernetesObject['metadata']>): void {
    const { object } = desired;
    coOwnership.stored(owner, desired, {
      ...object,
      metadata: { ...object.metadata, ...metadata },
    });
  }

  test('are reported, and what it means', () => {
    stored({ labels: { 'core.rukpak.io/owner-kind': 'BundleDeployment' } });
    stored({ labels: { 'core.rukpak.io/owner-kind': 'BundleDeployment' } });
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'MarksRemoved',
        message:
          'Deployment "web" in namespace "shop" was stored without label core.rukpak.io/owner-name, label applyset.kubernetes.io/part-of: ' +
          'an admission webhook or policy removes them, or sets other values. Core cannot watch, repair or delete such an object reliably: ' +
          'exempt it from that webhook or policy',
      },
    ]);
  });

  test('are all of them, and annotations too', () => {
    stored({ labels: {}, annotations: {} });
    expect(events[0]?.message).toContain(
      'without label core.rukpak.io/owner-kind, label core.rukpak.io/owner-name, label applyset.kubernetes.io/part-of, annotation core.rukpak.io/tracking-id:',
    );
  });

  test('are nothing where all are there', () => {
    stored({ labels: { ...desired.object.metadata.labels, theirs: 'too' } });
    expect(events).toEqual([]);
  });
});

describe('reverted fields', () => {
  test('are reported with their manager and time', () => {
    const scaled = others('kubectl-scale', '2026-01-02T00:00:00Z', { subresource: 'scale' });
    const older = others('helm-diff', '2026-01-01T00:00:00Z');
    const controller = others('controller', '2026-01-03T00:00:00Z', { subresource: 'status' });
    const before = withOurs({ 'f:paused': {} }, older, scaled, controller);
    coOwnership.putBack(owner, desired, { before, after: withOurs(all) });
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'FieldsPutBack',
        message:
          'Deployment "web" in namespace "shop": spec.replicas was changed by "kubectl-scale" at ' +
          '2026-01-02T00:00:00Z, and core reverted that. Add the fields to spec.drift.ignore to leave them to the other manager, or stop that one from setting them',
      },
    ]);
  });

  test('are reported without a manager when they were removed', () => {
    coOwnership.putBack(owner, desired, { before: withOurs({}), after: withOurs(all) });
    expect(events[0]?.message).toContain('spec.replicas, spec.paused were changed by others, and');
  });

  test('is nothing where no field was ours to lose, or nothing is known', () => {
    coOwnership.putBack(owner, desired, { before: withOurs(all), after: withOurs(all) });
    coOwnership.putBack(owner, desired, { before: desired.object, after: withOurs(all) });
    expect(events).toEqual([]);
  });

  test('are reported again only when they differ, or after a while', () => {
    putBack('a', '2026-01-01T00:00:00Z');
    putBack('a', '2026-01-01T00:00:01Z');
    expect(events).toHaveLength(1);
    putBack('b', '2026-01-01T00:00:02Z');
    expect(events).toHaveLength(2);
    clock.advance(600_000);
    putBack('b', '2026-01-01T00:10:02Z');
    expect(events).toHaveLength(3);
  });
});

test('what an apply takes is told by who had it, as the API server says it', () => {
  const cause = (field: string, message: string) => ({
    reason: 'FieldManagerConflict',
    field,
    message,
  });
  const causes = [
    cause('.spec.replicas', 'conflict with "kubectl" with subresource "scale" using apps/v1'),
    cause('.spec.paused', 'conflict with "argo"'),
  ];
  const error = new ApiError(409, { reason: 'Conflict', details: { causes } });
  const before = withOurs({}, others('kubectl', '2026-01-01T00:00:00Z'));
  coOwnership.taken(owner, desired, { before, conflicts: fieldConflicts(error) });
  expect(events).toMatchObject([
    {
      reason: 'FieldsTaken',
      message:
        'Deployment "web" in namespace "shop": spec.replicas was set by "kubectl" at 2026-01-01T00:00:00Z; ' +
        'spec.paused was set by "argo", and core overwrote that with the values of the bundle. ' +
        'Add the fields to spec.drift.ignore to leave them to the other manager, or stop that one from setting them',
    },
  ]);
});

test('other refusals are no conflicts of fields', () => {
  expect(fieldConflicts(new ApiError(409, { reason: 'Conflict' }))).toEqual([]);
  expect(fieldConflicts(new ApiError(403, { reason: 'Forbidden' }))).toEqual([]);
  expect(fieldConflicts(new Error('no'))).toEqual([]);
});

describe('objects of a Helm release', () => {
  const release = { name: 'shop', namespace: 'front' };

  test('that core has adopted are still in the record of the release: that is told once', () => {
    for (let objects = 0; objects < 30; objects += 1) coOwnership.adopted(owner, release);
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'HelmReleaseAdopted',
        message:
          'core has adopted objects of Helm release "shop" in namespace "front", and "helm uninstall shop" would delete them, with their data. ' +
          'Delete the record of the release instead: kubectl delete secret --namespace=front --selector=owner=helm,name=shop',
      },
    ]);
    coOwnership.adopted(owner, { ...release, name: 'shop-2' });
    expect(events).toHaveLength(2);
  });

  test('whose marks name none are nothing to tell', () => {
    coOwnership.adopted(owner, { name: 'a; reboot', namespace: 'front' });
    coOwnership.adopted(owner, { name: 'shop', namespace: '' });
    expect(events).toEqual([]);
  });
});
