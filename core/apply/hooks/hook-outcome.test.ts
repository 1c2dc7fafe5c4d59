import { expect, test } from 'vitest';
import { hookOutcome } from './hook-outcome.ts';

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
    { state: 'failed', reason: 'it says no reason' },
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
