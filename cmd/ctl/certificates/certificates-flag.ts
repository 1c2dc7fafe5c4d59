import { type Command, Option } from 'commander';
import {
  type CertificateProvider,
  certificateProviders,
  defaultCertificates,
} from '../../../core/bundle-deployment/index.ts';

export interface CertificatesFlag {
  readonly certificates: CertificateProvider;
}

export function addCertificatesFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--certificates <provider>',
      'who makes serving certificates for Services of bundles, as core runs with',
    )
      .choices(certificateProviders)
      .default(defaultCertificates.provider),
  );
}
