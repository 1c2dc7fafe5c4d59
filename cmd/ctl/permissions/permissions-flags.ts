import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import type { RegistryFlags } from '../../registry-flags.ts';
import type { CertificatesFlag } from '../certificates/certificates-flag.ts';
import type { ClusterFlags } from '../cluster-flags.ts';
import type { ConfigFlags } from '../config-flag.ts';
import type { InstallNamespaceFlags } from '../install-namespace-flag.ts';
import type { ServerFlags } from '../server-flags.ts';

/** Flags of `rukpakctl permissions`. */
export interface PermissionsFlags
  extends ClusterFlags,
    RegistryFlags,
    ServerFlags,
    ConfigFlags,
    CertificatesFlag,
    InstallNamespaceFlags {
  readonly serviceAccount?: ServiceAccountRef;
  readonly existingNamespace: readonly string[];
  readonly missing?: boolean;
  readonly class?: string;
  readonly systemNamespace: string;
  readonly output: 'yaml' | 'json';
}
