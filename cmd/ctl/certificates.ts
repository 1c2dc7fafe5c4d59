import { type Command, Option } from 'commander';
import {
  type CertificateProvider,
  certificateProviders,
  defaultCertificates,
  issuedByCertManager,
  issuedByServiceCA,
  selfIssued,
  wantedCertificates,
} from '../../core/bundle-deployment/index.ts';
import type { KubernetesObject } from '../../core/sdk.ts';

export interface CertificatesFlag {
  readonly certificates: CertificateProvider;
}

export function addCertificatesFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--certificates <provider>',
      'Issuer of serving certificates for Services of bundles; use the value of core’s flag',
    )
      .choices(certificateProviders)
      .default(defaultCertificates.provider),
  );
}

interface CertifiedOptions {
  readonly provider: CertificateProvider;
  readonly systemNamespace: string;
}

/**
 * The objects with everything that core makes for their certificates, except the certificates
 * themselves: enough to see which objects there are.
 * @throws TerminalError for an invalid annotation.
 */
export function certifiedObjects(
  objects: readonly KubernetesObject[],
  { provider, systemNamespace }: CertifiedOptions,
): readonly KubernetesObject[] {
  const wanted = wantedCertificates(objects, systemNamespace);
  if (wanted === undefined) return objects;
  const issue = { wanted, systemNamespace };
  const issuers: Readonly<Record<CertificateProvider, () => readonly KubernetesObject[]>> = {
    self: () => selfIssued(objects, { ...issue, states: new Map() }),
    'cert-manager': () => issuedByCertManager(objects, { ...issue, waitForReady: false }),
    'service-ca': () => issuedByServiceCA(objects, wanted),
  };
  return issuers[provider]();
}
