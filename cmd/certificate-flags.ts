import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../api/duration.ts';
import {
  type CertificateOptions,
  type CertificateProvider,
  certificateProviders,
  defaultCertificates,
  shortestLifetime,
} from '../core/bundle-deployment/index.ts';

/** Flags of the certificates that objects of bundles are annotated to have. */
export interface CertificateFlags {
  readonly certificates: CertificateProvider;
  readonly servingCertificateLifetime: number;
}

const hour = 3_600_000;
const longestLifetime = 87_600 * hour;

export function addCertificateFlags(command: Command): void {
  const { provider, lifetime } = defaultCertificates;
  command
    .addOption(
      new Option(
        '--certificates <provider>',
        'who makes serving certificates for Services of bundles',
      )
        .choices(certificateProviders)
        .default(provider),
    )
    .addOption(
      new Option(
        '--serving-certificate-lifetime <duration>',
        'how long one is valid with --certificates=self; it is replaced when a third of that is left',
      )
        .argParser(certificateLifetime)
        .default(lifetime, `${lifetime / hour}h`),
    );
}

export function certificateOptions(flags: CertificateFlags): CertificateOptions {
  return { provider: flags.certificates, lifetime: flags.servingCertificateLifetime };
}

function certificateLifetime(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) {
    throw new InvalidArgumentError('It must be a duration such as 2160h.');
  }
  if (value < shortestLifetime || value > longestLifetime) {
    throw new InvalidArgumentError(`It must be from 1m to ${longestLifetime / hour}h.`);
  }
  return value;
}
