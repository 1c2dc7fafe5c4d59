import type { KubernetesObject } from '../../../api/meta.ts';
import type { FinishedObject } from '../../contracts/applier.ts';
import { apiVersionOf, type ObjectKey, type Resource } from '../../platform/kube/index.ts';
import { apiServiceProblem, computeStatus } from './compute-status.ts';
import type { CustomRule, MissingVerdict } from './status.ts';

/** Which object, and what the watch knows of it; undefined where it does not exist. */
interface HealthSubject {
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly object: KubernetesObject | undefined;
  /** Of the owner, in place of the built-in one. */
  readonly rule?: CustomRule | undefined;
  /** How it ended, where it has ended by itself. */
  readonly finished?: FinishedObject['outcome'] | undefined;
}

interface ObjectHealth {
  /** The line for the Healthy condition; undefined where the object is healthy. */
  readonly problem: string | undefined;
  readonly missingVerdict?: MissingVerdict | undefined;
  /** Milliseconds after which it may differ without any event. */
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

/** What has ended may be gone. */
function absence(subject: HealthSubject): string | undefined {
  const { finished, resource } = subject;
  if (finished === undefined) return line(subject, notFound(subject));
  if (finished !== 'Failed') return undefined;
  const text = `object Failed: ${resource.kind} failed and was deleted. Core creates it again with another Bundle`;
  return line(subject, text);
}

/** As the API server says it. */
function notFound({ resource, key }: HealthSubject): string {
  const { plural, group } = resource;
  return `${group === '' ? plural : `${plural}.${group}`} "${key.name}" not found`;
}
