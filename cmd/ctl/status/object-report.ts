import type { KubernetesObject } from '../../../api/meta.ts';
import {
  apiServiceProblem,
  computeStatus,
  type InventoryEntry,
  inKindOrder,
  isHookObject,
  type ObjectStatus,
} from '../../../core/apply/index.ts';
import type { CustomStatuses } from './custom-statuses.ts';

/** One object of a deployment. */
export interface ObjectReport {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Of kstatus; `Current` is healthy. */
  readonly status: string;
  readonly message: string;
  /** That a hook has made it: it is not kept in place, and does not count for the deployment's health. */
  readonly hook?: true;
}

/** What a deployment owns, in the order of installation. `now` is in milliseconds. */
export function objectReports(
  owned: readonly InventoryEntry[],
  custom: CustomStatuses,
  now: number,
): readonly ObjectReport[] {
  // One object may be listed in two versions.
  const entries = new Map(owned.map((entry) => [entry.id, entry]));
  return inKindOrder([...entries.values()])
    .flatMap((group) => group.toSorted((a, b) => a.id.localeCompare(b.id)))
    .map((entry) => objectReport(entry, now, custom.get(entry)));
}

function objectReport(
  { object, resource, key }: InventoryEntry,
  now: number,
  custom: ObjectStatus | undefined,
): ObjectReport {
  const { apiVersion, kind } = object;
  const { namespace, name } = key;
  const isApiService =
    resource.group === 'apiregistration.k8s.io' && resource.kind === 'APIService';
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(isApiService && custom === undefined
      ? apiServiceStatus(object)
      : statusOf(object, now, custom)),
    ...(isHookObject(object) ? { hook: true } : {}),
  };
}

function statusOf(
  object: KubernetesObject,
  now: number,
  custom: ObjectStatus | undefined,
): Pick<ObjectReport, 'status' | 'message'> {
  const { status, message } = computeStatus(object, now, custom && (() => custom));
  return { status, message };
}

function apiServiceStatus(object: KubernetesObject): Pick<ObjectReport, 'status' | 'message'> {
  const problem = apiServiceProblem(object);
  return problem === undefined
    ? { status: 'Current', message: 'APIService is available' }
    : { status: 'InProgress', message: problem };
}

export function isHealthy({ status }: ObjectReport): boolean {
  return status === 'Current';
}

/** What names the object in a kubectl command: `deployment.apps web --namespace shop`. */
export function objectArguments({ apiVersion, kind, namespace, name }: ObjectReport): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  const place = namespace === undefined ? '' : ` --namespace ${namespace}`;
  return `${kind.toLowerCase()}${group} ${name}${place}`;
}
