import type { KubernetesObject } from '../../../api/meta.ts';
import { conditionOf } from './object-conditions.ts';
import { current, failed, inProgress, type ObjectStatus } from './status.ts';

export function definitionStatus(object: KubernetesObject): ObjectStatus {
  const names = conditionOf(object, 'NamesAccepted');
  if (names?.status === 'False') return failed(names.message);
  const established = conditionOf(object, 'Established');
  if (established?.status === 'True') return current('CRD is established');
  if (established?.status === 'False' && established.reason !== 'Installing') {
    return failed(established.message);
  }
  return inProgress('Install in progress');
}

/** What is wrong with an APIService; it is judged by its condition alone. */
export function apiServiceProblem(object: KubernetesObject): string | undefined {
  const available = conditionOf(object, 'Available');
  if (available === undefined) return 'Available condition not found';
  return available.status === 'False' ? available.message : undefined;
}
