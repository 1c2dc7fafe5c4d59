import type { KubernetesObject } from '../../../api/meta.ts';
import { stringAt } from '../fields/json-fields.ts';
import { current, inProgress, type ObjectStatus } from './status.ts';

export function claimStatus(object: KubernetesObject): ObjectStatus {
  const phase = stringAt(object['status'], 'phase') ?? 'unknown';
  return phase === 'Bound'
    ? current('PVC is Bound')
    : inProgress(`PVC is not Bound. phase: ${phase}`);
}

export function serviceStatus({ spec }: KubernetesObject): ObjectStatus {
  const type = stringAt(spec, 'type') ?? 'ClusterIP';
  const address = stringAt(spec, 'clusterIP') ?? '';
  return type === 'LoadBalancer' && address === ''
    ? inProgress(`ClusterIP not set. Service type: ${type}`)
    : current('Service is ready');
}

/** Kinds that are what they are once they exist. */
export function alwaysCurrent(): ObjectStatus {
  return current('Resource is always ready');
}
