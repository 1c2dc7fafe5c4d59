import { fieldAt, integerAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  conditionOf,
  current,
  failed,
  firstProblem,
  inProgress,
  isTrue,
  type ObjectStatus,
} from './status.ts';

/**
 * Value of progressDeadlineSeconds for "no deadline": the Deployment controller then reports no
 * progress either.
 */
const noDeadline = 2 ** 31 - 1;

interface Counts {
  readonly wanted: number;
  readonly total: number;
  readonly ready: number;
  readonly available: number;
  readonly updated: number;
  readonly current: number;
}

function countsOf({ spec, status }: KubernetesObject): Counts {
  return {
    wanted: integerAt(spec, 'replicas') ?? 1,
    total: integerAt(status, 'replicas') ?? 0,
    ready: integerAt(status, 'readyReplicas') ?? 0,
    available: integerAt(status, 'availableReplicas') ?? 0,
    updated: integerAt(status, 'updatedReplicas') ?? 0,
    current: integerAt(status, 'currentReplicas') ?? 0,
  };
}

export function deploymentStatus(object: KubernetesObject): ObjectStatus {
  const progress = conditionOf(object, 'Progressing');
  if (progress?.reason === 'ProgressDeadlineExceeded') return failed('Progress deadline exceeded');
  const deadline = integerAt(object['spec'], 'progressDeadlineSeconds') ?? noDeadline;
  const progressed = progress?.status === 'True' && progress.reason === 'NewReplicaSetAvailable';
  const { wanted, total, ready, available, updated } = countsOf(object);
  return (
    firstProblem([
      [wanted > total, `Replicas: ${total}/${wanted}`],
      [wanted > updated, `Updated: ${updated}/${wanted}`],
      [total > wanted, `Pending termination: ${total - wanted}`],
      [updated > available, `Available: ${available}/${updated}`],
      [wanted > ready, `Ready: ${ready}/${wanted}`],
      [!progressed && deadline !== noDeadline, 'ReplicaSet not Available'],
      [!isTrue(object, 'Available'), 'Deployment not Available'],
    ]) ?? current(`Deployment is available. Replicas: ${total}`)
  );
}

export function replicaSetStatus(object: KubernetesObject): ObjectStatus {
  const labelled = integerAt(object['status'], 'fullyLabeledReplicas') ?? 0;
  const { wanted, total, ready, available } = countsOf(object);
  return (
    firstProblem([
      [isTrue(object, 'ReplicaFailure'), 'Replica Failure condition. Check Pods'],
      [wanted > labelled, `Labelled: ${labelled}/${wanted}`],
      [wanted > available, `Available: ${available}/${wanted}`],
      [wanted > ready, `Ready: ${ready}/${wanted}`],
      [total > wanted, `Pending termination: ${total - wanted}`],
    ]) ?? current(`ReplicaSet is available. Replicas: ${total}`)
  );
}

export function statefulSetStatus(object: KubernetesObject): ObjectStatus {
  const { spec } = object;
  if (stringAt(spec, 'updateStrategy', 'type') === 'OnDelete') {
    return current('StatefulSet is using the ondelete update strategy');
  }
  const { wanted, total, ready } = countsOf(object);
  return (
    firstProblem([
      [wanted > total, `Replicas: ${total}/${wanted}`],
      [wanted > ready, `Ready: ${ready}/${wanted}`],
      [total > wanted, `Pending termination: ${total - wanted}`],
    ]) ?? rolloutStatus(object)
  );
}

function rolloutStatus(object: KubernetesObject): ObjectStatus {
  const { spec, status } = object;
  const counts = countsOf(object);
  const partition = integerAt(spec, 'updateStrategy', 'rollingUpdate', 'partition');
  if (partition !== undefined) {
    const rolled = counts.wanted - partition;
    return counts.updated < rolled
      ? inProgress(`updated: ${counts.updated}/${rolled}`)
      : current(`Partition rollout complete. updated: ${counts.updated}`);
  }
  const revisions = [fieldAt(status, 'currentRevision'), fieldAt(status, 'updateRevision')];
  return (
    firstProblem([
      [counts.wanted > counts.current, `current: ${counts.current}/${counts.wanted}`],
      [revisions[0] !== revisions[1], 'Waiting for updated revision to match current'],
    ]) ?? current(`All replicas scheduled as expected. Replicas: ${counts.total}`)
  );
}

export function daemonSetStatus(object: KubernetesObject): ObjectStatus {
  const { metadata, status } = object;
  if (metadata.generation === undefined) {
    return inProgress('DaemonSet metadata.generation not found');
  }
  if (integerAt(status, 'observedGeneration') === undefined) {
    return inProgress('DaemonSet status.observedGeneration not found');
  }
  const wanted = integerAt(status, 'desiredNumberScheduled');
  if (wanted === undefined) return inProgress('Missing .status.desiredNumberScheduled');
  const count = (field: string): number => integerAt(status, field) ?? 0;
  const [scheduled, updated] = [count('currentNumberScheduled'), count('updatedNumberScheduled')];
  const [available, ready] = [count('numberAvailable'), count('numberReady')];
  return (
    firstProblem([
      [wanted > scheduled, `Current: ${scheduled}/${wanted}`],
      [wanted > updated, `Updated: ${updated}/${wanted}`],
      [wanted > available, `Available: ${available}/${wanted}`],
      [wanted > ready, `Ready: ${ready}/${wanted}`],
    ]) ?? current(`All replicas scheduled as expected. Replicas: ${wanted}`)
  );
}

/** Milliseconds after which an unschedulable Pod counts as failed. */
const scheduleWindow = 15_000;

export function podStatus(object: KubernetesObject, now: number): ObjectStatus {
  const phase = stringAt(object['status'], 'phase') ?? '';
  switch (phase) {
    case 'Succeeded':
      return current('Pod has completed successfully');
    case 'Failed':
      return current('Pod has completed, but not successfully');
    case 'Running':
      return runningStatus(object);
    case 'Pending':
      return pendingStatus(object, now);
    case '':
      return inProgress('Pod phase not available');
    default:
      return inProgress(`unknown Pod phase ${phase}`);
  }
}

function runningStatus(object: KubernetesObject): ObjectStatus {
  if (isTrue(object, 'Ready')) return current('Pod is Ready');
  const looping = listOf(fieldAt(object['status'], 'containerStatuses'))
    .filter((container) => stringAt(container, 'state', 'waiting', 'reason') === 'CrashLoopBackOff')
    .map((container) => stringAt(container, 'name') ?? '');
  return looping.length > 0
    ? failed(`Containers in CrashLoop state: ${looping.join(',')}`)
    : inProgress('Pod is running but is not Ready');
}

function pendingStatus(object: KubernetesObject, now: number): ObjectStatus {
  const scheduled = conditionOf(object, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') {
    return inProgress('Pod is in the Pending phase');
  }
  const left = Date.parse(scheduled.lastTransitionTime) + scheduleWindow - now;
  // An unreadable time must not delay the verdict.
  return left > 0
    ? { ...inProgress('Pod has not been scheduled'), recheckAfter: left }
    : failed('Pod could not be scheduled');
}

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
