import { join } from 'node:path';
import type { Command } from 'commander';
import { defaultLimits } from '../../core/content/index.ts';
import {
  defaultContent,
  defaultHealthProbeBindAddress,
  defaultWorkers,
} from '../../core/manager/index.ts';
import { homeFolder } from '../../core/platform/kube/index.ts';
import type { Zone } from '../../core/run-manager.ts';
import {
  addProvisionerFlags,
  addProvisionerUrlFlags,
  type ProvisionerFlags,
  type ProvisionerUrlFlags,
} from '../classes/provisioner-flags.ts';
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
import { type CoreFeatureGates, coreFeatureGates, featureGatesOption } from './feature-gates.ts';
import { booleanFlag, durationOption, positiveInteger, withoutEffect } from './flag-values.ts';
import { addProcessFlags, type ProcessFlags } from './process-flags.ts';
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
  readonly featureGates: CoreFeatureGates;
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
  readonly featureGates: CoreFeatureGates;
}

/** As in v0.16. */
const podDefaults: CoreDefaults = {
  httpBindAddress: defaultContent.bindAddress,
  healthProbeBindAddress: defaultHealthProbeBindAddress,
  provisionerStorageDir: defaultContent.directory,
  uploadStorageDir: '/var/cache/uploads',
  featureGates: coreFeatureGates,
};

/** Of `rukpak all`; each cluster has folders of its own in them. */
export const laptopFolders = {
  provisionerStorageDir: join(homeFolder(), '.cache', 'rukpak-ts', 'bundles'),
  uploadStorageDir: join(homeFolder(), '.cache', 'rukpak-ts', 'uploads'),
} as const;

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
        'Reconcile only while this process holds the lease core.rukpak.io; without the flag it fails if another one holds it',
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
    .addOption(featureGatesOption(defaults.featureGates))
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
      'Maximum number of files and folders of a bundle, and of objects in its manifests',
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
