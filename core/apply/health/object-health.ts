import { apiVersionOf, gvkOf } from '../../../api/gvk.ts';
import { integerAt, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { FinishedObject } from '../../contracts/applier.ts';
import { type ObjectKey, type Resource } from '../../platform/kube/index.ts';
import {
  type CustomRule,
  conditionOf,
  current,
  failed,
  inProgress,
  type MissingVerdict,
  type ObjectStatus,
} from './status.ts';
import {
  daemonSetStatus,
  deploymentStatus,
  jobStatus,
  podStatus,
  replicaSetStatus,
  statefulSetStatus,
} from './workloads.ts';

/** An object and its entry in the watch cache; undefined when it does not exist. */
interface HealthSubject {
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly object: KubernetesObject | undefined;
  /** A rule of the owner that replaces the built-in one. */
  readonly rule?: CustomRule | undefined;
  /** The outcome, when the object has ended by itself. */
  readonly finished?: FinishedObject['outcome'] | undefined;
}

interface ObjectHealth {
  /** The line for the Healthy condition; undefined when the object is healthy. */
  readonly problem: string | undefined;
  readonly missingVerdict?: MissingVerdict | undefined;
  /** Milliseconds after which the health may change without any event. */
  readonly recheckAfter: number | undefined;
}

/** Judges one object and writes its line. `now` is in milliseconds. */
export function objectHealth(subject: HealthSubject, now: number): ObjectHealth {
  const { resource, object, rule, finished } = subject;
  if (finished !== undefined && object?.metadata.deletionTimestamp !== undefined) {
    return objectHealth({ ...subject, object: undefined }, now);
  }
  if (object === undefined) return { problem: absence(subject), recheckAfter: undefined };
  if (isAPIService(resource) && rule === undefined) {
    const problem = apiServiceProblem(object);
    return {
      problem: problem === undefined ? undefined : line(subject, problem),
      recheckAfter: undefined,
    };
  }
  const { status, message, missingVerdict, recheckAfter } = computeStatus(object, now, rule);
  const problem = status === 'Current' ? undefined : line(subject, `object ${status}: ${message}`);
  return { problem, missingVerdict, recheckAfter };
}

function isAPIService({ group, kind }: Resource): boolean {
  return group === 'apiregistration.k8s.io' && kind === 'APIService';
}

function line({ resource, key }: HealthSubject, text: string): string {
  const apiVersion = apiVersionOf(resource);
  const version = resource.group === '' ? `/${apiVersion}` : apiVersion;
  const name = key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
  return `(${version}, Kind=${resource.kind})(${name}): ${text}`;
}

/** An object that has ended may be absent. */
function absence(subject: HealthSubject): string | undefined {
  const { finished, resource } = subject;
  if (finished === undefined) return line(subject, notFound(subject));
  if (finished !== 'Failed') return undefined;
  const text = `object Failed: ${resource.kind} failed and was deleted. Core creates it again with another Bundle`;
  return line(subject, text);
}

/** Worded as the API server does. */
function notFound({ resource, key }: HealthSubject): string {
  const { plural, group } = resource;
  return `${group === '' ? plural : `${plural}.${group}`} "${key.name}" not found`;
}

type StatusRule = (object: KubernetesObject, now: number) => ObjectStatus;

/** Rules by kind and group; the Ready condition judges every other kind. */
const rules: ReadonlyMap<string, StatusRule> = new Map<string, StatusRule>([
  ['Deployment.apps', deploymentStatus],
  ['ReplicaSet.apps', replicaSetStatus],
  ['StatefulSet.apps', statefulSetStatus],
  ['DaemonSet.apps', daemonSetStatus],
  ['Pod.', podStatus],
  ['Job.batch', jobStatus],
  ['CronJob.batch', alwaysCurrent],
  ['PersistentVolumeClaim.', claimStatus],
  ['Service.', serviceStatus],
  ['ConfigMap.', alwaysCurrent],
  ['Secret.', alwaysCurrent],
  ['PodDisruptionBudget.policy', alwaysCurrent],
  ['CustomResourceDefinition.apiextensions.k8s.io', definitionStatus],
]);

/**
 * The status of a live object by a rule of its owner, otherwise by those of kstatus. `now` is in
 * milliseconds.
 */
export function computeStatus(
  object: KubernetesObject,
  now: number,
  custom?: CustomRule,
): ObjectStatus {
  if (object.metadata.deletionTimestamp !== undefined) {
    return { status: 'Terminating', message: 'Resource scheduled for deletion' };
  }
  if (custom !== undefined) return custom(object);
  const { group, kind } = gvkOf(object);
  const rule = rules.get(`${kind}.${group}`) ?? readyStatus;
  return genericStatus(object) ?? rule(object, now);
}

function genericStatus(object: KubernetesObject): ObjectStatus | undefined {
  const { kind, metadata, status } = object;
  const { generation } = metadata;
  const observed = integerAt(status, 'observedGeneration');
  if (generation !== undefined && observed !== undefined && observed !== generation) {
    return inProgress(
      `${kind} generation is ${generation}, but latest observed generation is ${observed}`,
    );
  }
  const reconciling = conditionOf(object, 'Reconciling');
  if (reconciling?.status === 'True') return inProgress(reconciling.message);
  const stalled = conditionOf(object, 'Stalled');
  return stalled?.status === 'True' ? failed(stalled.message) : undefined;
}

function readyStatus(object: KubernetesObject): ObjectStatus {
  const ready = conditionOf(object, 'Ready');
  return ready?.status === 'False' || ready?.status === 'Unknown'
    ? inProgress(ready.message)
    : current('Resource is current');
}

function claimStatus(object: KubernetesObject): ObjectStatus {
  const phase = stringAt(object['status'], 'phase') ?? 'unknown';
  return phase === 'Bound'
    ? current('PVC is Bound')
    : inProgress(`PVC is not Bound. phase: ${phase}`);
}

function serviceStatus({ spec }: KubernetesObject): ObjectStatus {
  const type = stringAt(spec, 'type') ?? 'ClusterIP';
  const address = stringAt(spec, 'clusterIP') ?? '';
  return type === 'LoadBalancer' && address === ''
    ? inProgress(`ClusterIP not set. Service type: ${type}`)
    : current('Service is ready');
}

/** For kinds that are ready as soon as they exist. */
function alwaysCurrent(): ObjectStatus {
  return current('Resource is always ready');
}

function definitionStatus(object: KubernetesObject): ObjectStatus {
  const names = conditionOf(object, 'NamesAccepted');
  if (names?.status === 'False') return failed(names.message);
  const established = conditionOf(object, 'Established');
  if (established?.status === 'True') return current('CRD is established');
  if (established?.status === 'False' && established.reason !== 'Installing') {
    return failed(established.message);
  }
  return inProgress('Install in progress');
}

/** The problem of an APIService, judged by its condition alone. */
export function apiServiceProblem(object: KubernetesObject): string | undefined {
  const available = conditionOf(object, 'Available');
  if (available === undefined) return 'Available condition not found';
  return available.status === 'False' ? available.message : undefined;
}
