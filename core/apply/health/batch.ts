import type { KubernetesObject } from '../../../api/meta.ts';
import { integerAt, stringAt } from '../fields/json-fields.ts';
import { isTrue } from './object-conditions.ts';
import { current, failed, inProgress, type ObjectStatus } from './status.ts';

export function jobStatus(object: KubernetesObject): ObjectStatus {
  const { spec, status } = object;
  const parallelism = integerAt(spec, 'parallelism') ?? 1;
  const completions = integerAt(spec, 'completions') ?? parallelism;
  const succeeded = integerAt(status, 'succeeded') ?? 0;
  const failures = integerAt(status, 'failed') ?? 0;
  if (isTrue(object, 'Complete')) {
    return current(`Job Completed. succeeded: ${succeeded}/${completions}`);
  }
  if (isTrue(object, 'Failed')) return failed(`Job Failed. failed: ${failures}/${completions}`);
  if ((stringAt(status, 'startTime') ?? '') === '') return inProgress('Job not started');
  const active = integerAt(status, 'active') ?? 0;
  return current(`Job in progress. success:${succeeded}, active: ${active}, failed: ${failures}`);
}
