import type { KubernetesObject } from '../../../api/meta.ts';
import { WaitingError } from '../../errors.ts';
import type { Discovery, ServedApis } from '../../platform/kube/index.ts';
import type { CertificateProvider } from './certificate-options.ts';
import {
  type CertManagerIssue,
  certManagerKinds,
  issuedByCertManager,
} from './providers/cert-manager.ts';
import { issuedByServiceCA } from './providers/service-ca.ts';

export interface Elsewhere extends CertManagerIssue {
  readonly provider: CertificateProvider;
  readonly discovery: ServedApis & Pick<Discovery, 'invalidate'>;
  readonly signal: AbortSignal;
}

/**
 * The objects for a provider other than core itself.
 * @throws WaitingError where the cluster does not have it.
 */
export async function issuedElsewhere(
  objects: readonly KubernetesObject[],
  elsewhere: Elsewhere,
): Promise<readonly KubernetesObject[]> {
  const { provider, discovery, signal, wanted } = elsewhere;
  if (provider === 'service-ca') return issuedByServiceCA(objects, wanted);
  const served = await discovery.apiVersions(signal);
  if (!certManagerKinds.every((kind) => served.includes(kind))) {
    // The next try is to see what is installed meanwhile.
    discovery.invalidate();
    throw new WaitingError(
      'core runs with --certificates=cert-manager, and the cluster has no cert-manager (kinds Certificate and Issuer of cert-manager.io/v1): install it, or run core with --certificates=self',
    );
  }
  return issuedByCertManager(objects, elsewhere);
}
