import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/duration.ts';
import {
  type DeletionPolicy,
  deletionPolicySchema,
  type PrunePolicy,
} from '../../api/v1alpha1/deployment-policies.ts';
import {
  type CertificateOptions,
  type CertificateProvider,
  certificateProviders,
  defaultCertificates,
  shortestLifetime,
} from '../../core/bundle-deployment/index.ts';
import { booleanFlag } from './flag-values.ts';

export interface DeletionPolicyFlag {
  readonly defaultDeletionPolicy: DeletionPolicy;
}

/**
 * Flags with defaults for fields that a deployment's spec omits. Without them, the behaviour of
 * v0.16.
 */
export interface DeploymentDefaultFlags extends DeletionPolicyFlag {
  readonly defaultPruneMaxPercent?: number;
  readonly defaultConfirmData: boolean;
}

export function addDeploymentDefaultFlags(command: Command): void {
  addDeletionPolicyFlag(command, 'Default of spec.deletionPolicy')
    .option(
      '--default-prune-max-percent <percent>',
      'Default of spec.prune.maxPercent in percent, 0 to 100 (default: no limit)',
      percent,
    )
    .addOption(booleanFlag('default-confirm-data', 'Default of spec.prune.confirmData'));
}

/** The process that warns of deletions has this flag too. */
export function addDeletionPolicyFlag(command: Command, meaning: string): Command {
  return command.addOption(
    new Option('--default-deletion-policy <policy>', meaning)
      .choices(deletionPolicySchema.options)
      .default('Delete'),
  );
}

export function pruneDefaults(flags: DeploymentDefaultFlags): PrunePolicy {
  const { defaultPruneMaxPercent: maxPercent, defaultConfirmData: confirmData } = flags;
  return { confirmData, ...(maxPercent === undefined ? {} : { maxPercent }) };
}

function percent(text: string): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && value <= 100) return value;
  throw new InvalidArgumentError('It must be a whole number from 0 to 100.');
}

/** Flags of the certificates for annotated objects of bundles. */
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
        'Issuer of serving certificates for Services of bundles',
      )
        .choices(certificateProviders)
        .default(provider),
    )
    .addOption(
      new Option(
        '--serving-certificate-lifetime <duration>',
        'Lifetime of a serving certificate with --certificates=self, 1m to 87600h; core renews it when a third is left',
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
