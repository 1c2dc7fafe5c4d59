import { totalmem } from 'node:os';
import { hashObject } from '../../api/object-hash.ts';
import type { DeletionPolicy, PrunePolicy } from '../../api/v1alpha1/deployment-policies.ts';
import {
  type CertificateOptions,
  defaultCertificates,
  shortestLifetime,
} from '../bundle-deployment/index.ts';
import { defaultLimits } from '../content/index.ts';
import type { ContentLimits } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Source } from '../contracts/source.ts';
import { podNamespace } from '../platform/kube/index.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import type { ContentOptions, ManagerOptions, UploadOptions, Zone } from './options.ts';

/** The complete settings of a process: its options with defaults. */
export interface ManagerSettings {
  readonly provisioners: readonly Provisioner[];
  /** Default: both. */
  readonly zone?: Zone | undefined;
  readonly sources: readonly Source[];
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly systemNamespace: string;
  readonly allowUnscopedSourceSecrets: boolean;
  readonly requireInstallNamespace: boolean;
  readonly limits: ContentLimits;
  readonly content: ContentOptions;
  readonly uploads?: UploadOptions | undefined;
  readonly healthProbeBindAddress: string;
  readonly readyChecks?: ManagerOptions['readyChecks'] | undefined;
  readonly leaseName: string;
  readonly leaderElection: boolean;
  readonly workers: number;
  readonly memory: ByteBudget;
  readonly ownWorkers?: ReadonlyMap<string, number> | undefined;
  readonly reportHealth: boolean;
  readonly mindsUnserved: boolean;
  readonly pruneDefaults?: PrunePolicy | undefined;
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  readonly certificates: CertificateOptions;
  readonly crdReaderRole?: string | undefined;
  readonly logger: Logger;
}

/** The parts that the process opens from the options before it has settings. */
interface OpenParts {
  readonly provisioners: readonly Provisioner[];
  readonly sources: readonly Source[];
  readonly memory: ByteBudget;
  readonly logger: Logger;
}

/** The options with core's defaults. */
export function settingsOf(options: ManagerOptions, parts: OpenParts): ManagerSettings {
  return {
    ...parts,
    zone: options.zone,
    kubeconfig: options.kubeconfig,
    context: options.context,
    systemNamespace: options.systemNamespace ?? podNamespace(),
    allowUnscopedSourceSecrets: options.allowUnscopedSourceSecrets ?? false,
    requireInstallNamespace: options.requireInstallNamespace ?? false,
    limits: { ...defaultLimits, ...options.limits },
    content: { ...defaultContent, ...options.content },
    uploads: options.uploads,
    healthProbeBindAddress: options.healthProbeBindAddress ?? defaultHealthProbeBindAddress,
    readyChecks: options.readyChecks,
    leaseName: options.leaseName ?? leaseNameOf(parts.provisioners),
    leaderElection: options.leaderElection ?? true,
    workers: options.workers ?? defaultWorkers,
    ownWorkers: options.ownWorkers,
    mindsUnserved: options.mindsUnserved ?? false,
    reportHealth: options.reportHealth ?? true,
    pruneDefaults: options.pruneDefaults,
    defaultDeletionPolicy: options.defaultDeletionPolicy,
    certificates: certificateOptions(options.certificates),
    crdReaderRole: options.crdReaderRole,
  };
}

/** @throws Error when the lifetime of certificates leaves no time for their rotation. */
function certificateOptions(options: ManagerOptions['certificates']): CertificateOptions {
  const { provider = defaultCertificates.provider, lifetime = defaultCertificates.lifetime } =
    options ?? {};
  if (lifetime < shortestLifetime) {
    throw new Error(`certificates.lifetime must be at least ${shortestLifetime} milliseconds`);
  }
  return { provider, lifetime };
}

/** Storage and address of content for a process in a pod, as in v0.16. */
export const defaultContent = {
  directory: '/var/cache/bundles',
  bindAddress: ':8080',
  externalAddress: 'http://localhost:8080',
  contentServers: [],
} as const satisfies ContentOptions;

/** As in v0.16. */
export const defaultHealthProbeBindAddress = ':8081';

export const defaultWorkers = 8;

const gibibyte = 1024 ** 3;

/**
 * Bytes: half of the container's memory; the process itself, its caches and rendered objects need
 * the other half. Without a limit, the memory in the manifests of deploy/.
 */
export function defaultMemoryBudget(bound = process.constrainedMemory()): number {
  return bound > 0 && bound < totalmem() ? Math.floor(bound / 2) : gibibyte;
}

/** Maximum length of an object's name. */
const maxNameLength = 253;

/** The Lease of a process with these classes: processes with other classes do not wait for it. */
function leaseNameOf(provisioners: readonly Pick<Provisioner, 'className'>[]): string {
  const names = provisioners.map(({ className }) => className).sort();
  const name = `${names.join('.')}.core.rukpak.io`;
  return name.length > maxNameLength ? `${hashObject(names)}.core.rukpak.io` : name;
}
