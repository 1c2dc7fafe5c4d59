import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultLimits } from '../core/content/index.ts';
import {
  defaultContent,
  defaultHealthProbeBindAddress,
  defaultWorkers,
} from '../core/manager/index.ts';
import type { Zone } from '../core/run-manager.ts';
import {
  addContentServerFlags,
  addUploadFlags,
  type ContentServerDefaults,
  type ContentServerFlags,
  type UploadFlags,
} from './content-server-flags.ts';
import {
  addCertificateFlags,
  addDeploymentDefaultFlags,
  type CertificateFlags,
  type DeploymentDefaultFlags,
} from './deployment-flags.ts';
import {
  booleanFlag,
  durationOption,
  parseBoolean,
  positiveInteger,
  withoutEffect,
} from './flag-values.ts';
import { addProcessFlags, type ProcessFlags } from './process-flags.ts';
import {
  addProvisionerFlags,
  addProvisionerUrlFlags,
  type ProvisionerFlags,
  type ProvisionerUrlFlags,
} from './provisioner-flags.ts';
import { addRegistryFlags, type RegistryFlags } from './registry-flags.ts';
import { addSourceFlags, type SourceFlags } from './source-flags.ts';
import { type AdmissionFlags, addAdmissionFlags } from './webhook-flags.ts';

/** Flags of `rukpak core`: those of v0.16, and new ones. */
export interface CoreFlags
  extends ProcessFlags,
    ContentServerFlags,
    RegistryFlags,
    UploadFlags,
    CertificateFlags,
    DeploymentDefaultFlags,
    ProvisionerFlags,
    ProvisionerUrlFlags,
    SourceFlags,
    AdmissionFlags {
  readonly leaderElect: boolean;
  readonly featureGates: FeatureGates;
  readonly workers: number;
  /** Mebibytes. */
  readonly memoryBudget?: number;
  /** Default: both zones. */
  readonly zone?: Zone;
  readonly crdReaderRole?: string;
  readonly maxContentBytes: number;
  readonly maxContentEntries: number;
  readonly maxContentPathLength: number;
  readonly maxContentDepth: number;
  readonly maxContentCompressionRatio: number;
  readonly contentTimeout: number;
}

/** Default addresses and folders of a program. */
interface CoreDefaults extends ContentServerDefaults {
  readonly uploadStorageDir: string;
  readonly healthProbeBindAddress: string;
}

/** As in v0.16. */
const podDefaults: CoreDefaults = {
  httpBindAddress: defaultContent.bindAddress,
  healthProbeBindAddress: defaultHealthProbeBindAddress,
  provisionerStorageDir: defaultContent.directory,
  uploadStorageDir: '/var/cache/uploads',
};

export function addCoreFlags(command: Command, defaults = podDefaults): Command {
  addProcessFlags(command, defaults.healthProbeBindAddress);
  addContentServerFlags(command, defaults);
  addRegistryFlags(command);
  addUploadFlags(command, defaults.uploadStorageDir);
  addCertificateFlags(command);
  addDeploymentDefaultFlags(command);
  addProvisionerFlags(command);
  addProvisionerUrlFlags(command);
  addLimitFlags(command);
  addSourceFlags(command);
  addAdmissionFlags(command);
  return command
    .addOption(
      booleanFlag(
        'leader-elect',
        'Reconcile only while this process holds the lease core.rukpak.io',
      ),
    )
    .option(
      '--workers <n>',
      'Maximum number of BundleDeployments reconciled, and of Bundles unpacked, at the same time',
      positiveInteger,
      defaultWorkers,
    )
    .option(
      '--memory-budget <MiB>',
      'Memory in MiB for content and worker processes together (default: half of the container’s limit, 1024 without a limit)',
      positiveInteger,
    )
    .addOption(
      new Option(
        '--feature-gates <gates>',
        'Features to turn on or off: <name>=true or <name>=false, separated by commas',
      )
        .argParser(parseFeatureGates)
        .default(defaultFeatureGates, 'BundleDeploymentHealth=true'),
    )
    .option(
      '--crd-reader-role <name>',
      'ClusterRole that core keeps up to date, so that crdvalidator may list the custom resources of every CRD',
    )
    .addOption(withoutEffect('--unpack-image <image>', 'core pulls images and does not run them'));
}

function addLimitFlags(command: Command): void {
  const limits = defaultLimits;
  command
    .option(
      '--max-content-bytes <n>',
      'Maximum total size of the files of a bundle in bytes',
      positiveInteger,
      limits.maxBytes,
    )
    .option(
      '--max-content-entries <n>',
      'Maximum number of files and folders of a bundle',
      positiveInteger,
      limits.maxEntries,
    )
    .option(
      '--max-content-path-length <n>',
      'Maximum length of a path in bytes',
      positiveInteger,
      limits.maxPathLength,
    )
    .option(
      '--max-content-depth <n>',
      'Maximum depth of nested folders',
      positiveInteger,
      limits.maxDepth,
    )
    .option(
      '--max-content-compression-ratio <n>',
      'Maximum number of unpacked bytes per compressed byte',
      positiveInteger,
      limits.maxCompressionRatio,
    )
    .addOption(
      durationOption(
        '--content-timeout',
        'Maximum time of one fetch, and of one call of a class',
        `${limits.timeout / 1000}s`,
      ),
    );
}

interface FeatureGates {
  /** Reports the Healthy condition, and keeps old Bundles until it is True. */
  readonly BundleDeploymentHealth: boolean;
}

export const defaultFeatureGates: FeatureGates = { BundleDeploymentHealth: true };

/** Reads `Name=true,Other=false`. */
export function parseFeatureGates(text: string, previous: FeatureGates): FeatureGates {
  const gates: Record<string, boolean> = { ...previous };
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [name = '', ...values] = pair.split('=').map((part) => part.trim());
    if (!Object.hasOwn(defaultFeatureGates, name)) {
      const known = Object.keys(defaultFeatureGates).join(', ');
      throw new InvalidArgumentError(`There is no feature gate "${name}"; known: ${known}.`);
    }
    const value = parseBoolean(values.join('='));
    if (value === undefined) throw new InvalidArgumentError(`Give ${name}=true or ${name}=false.`);
    gates[name] = value;
  }
  return { ...defaultFeatureGates, ...gates };
}
