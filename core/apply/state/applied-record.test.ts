import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { FinishedObjects, isCollected, recordWithout } from './applied-record.ts';

const complete = { conditions: [{ type: 'Complete', status: 'True' }] };
const failed = { conditions: [{ type: 'Failed', status: 'True' }] };
const metadata = { name: 'j', namespace: 'n' };

let finished: FinishedObjects;

beforeEach(() => {
  finished = new FinishedObjects();
  finished.begin({ bundle: 'b1' });
});

function aJob(spec: object = {}): KubernetesObject {
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec };
}

function aPod(restartPolicy: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { restartPolicy } };
}

function noted(object: KubernetesObject, status: object): boolean {
  const record = recordWithout(aDesiredObject(object), 'demo');
  return finished.note(record, { ...object, status });
}

describe('what has ended', () => {
  const ttl = { ttlSecondsAfterFinished: 0 };
  test.each([
    ['a Job that is complete', aJob(), complete, true],
    ['a Job that runs', aJob(), { active: 1 }, false],
    ['a Job that failed and is deleted by itself', aJob(ttl), failed, true],
    ['a Job that failed: who deletes it wants it again', aJob(), failed, false],
    ['a Pod that has succeeded', aPod('Never'), { phase: 'Succeeded' }, true],
    ['a Pod that failed, as one that was evicted', aPod('Never'), { phase: 'Failed' }, false],
    ['a Pod that is always restarted', aPod('Always'), { phase: 'Succeeded' }, false],
  ])('%s', (...[, object, status, expected]) => {
    expect(noted(object, status)).toBe(expected);
    expect(noted(object, status)).toBe(false);
    expect(finished.all).toHaveLength(expected ? 1 : 0);
  });
});

test('an object is done for its Bundle and its spec', () => {
  noted(aJob(), complete);
  const covers = (spec: object, bundle: string) =>
    finished.covers({ bundle }, aDesiredObject(aJob(spec)));
  expect(covers({}, 'b1')).toBe(true);
  expect(covers({ parallelism: 2 }, 'b1')).toBe(false);
  expect(covers({}, 'b2')).toBe(false);
  finished.begin({ bundle: 'b2' });
  expect(finished.all).toEqual([]);
});

test('what ended before another Bundle was refused is not run again, and what was replaced is', () => {
  noted(aJob(), complete);
  const covered = () => finished.covers({ bundle: 'b1' }, aDesiredObject(aJob()));
  finished.begin({ bundle: 'b2' });
  finished.begin({ bundle: 'b1' });
  expect(covered()).toBe(true);
  finished.begin({ bundle: 'b2' });
  finished.keepOnly(new Set());
  finished.begin({ bundle: 'b1' });
  expect(covered()).toBe(false);
});

test('a new process knows it by the status', () => {
  noted(aJob(), complete);
  const origin = { bundle: 'b1', finished: finished.all };
  expect(origin.finished).toMatchObject([
    { group: 'batch', kind: 'Job', namespace: 'n', name: 'j', outcome: 'Succeeded' },
  ]);
  finished = new FinishedObjects();
  expect(finished.covers(origin, aDesiredObject(aJob()))).toBe(true);
  finished.begin(origin);
  expect(finished.covers(origin, aDesiredObject(aJob()))).toBe(true);
  finished.keepOnly(new Set());
  expect(finished.all).toEqual([]);
});

test('only Jobs with a time to live are deleted by Kubernetes', () => {
  expect(isCollected(aDesiredObject(aJob({ ttlSecondsAfterFinished: 0 })))).toBe(true);
  expect(isCollected(aDesiredObject(aJob()))).toBe(false);
});
