import type { KubernetesObject } from '../../../core/sdk.ts';
import type { ClusterServiceVersion } from '../csv/cluster-service-version.ts';
import { objectName } from '../objects/object-name.ts';
import { servedPorts } from './served-ports.ts';
import { secretName } from './serving-names.ts';

/** Whether a certificate will be in a Secret of that name: what the bundle has in it is for elsewhere. */
export function isMadeSecret(object: KubernetesObject, csv: ClusterServiceVersion): boolean {
  if (object.kind !== 'Secret' || object.apiVersion !== 'v1') return false;
  const name = objectName(object);
  return csv.deployments.some(
    (deployment) =>
      secretName(deployment.name) === name && servedPorts(csv, deployment.name).length > 0,
  );
}
