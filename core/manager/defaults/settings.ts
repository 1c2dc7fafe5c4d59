import {
  type CertificateOptions,
  defaultCertificates,
  shortestLifetime,
} from '../../bundle-deployment/index.ts';
import { defaultLimits } from '../../content/index.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { Provisioner } from '../../contracts/provisioner.ts';
import type { Source } from '../../contracts/source.ts';
import { podNamespace } from '../../platform/kube/index.ts';
import type { ByteBudget } from '../../platform/runtime/index.ts';
import type { ManagerOptions } from '../options.ts';
import type { ManagerSettings } from '../settings.ts';
import { leaseNameOf } from './lease-name.ts';
import { defaultContent, defaultHealthProbeBindAddress, defaultWorkers } from './values.ts';

/** What is made of the options beforehand. */
export interface OpenParts {
  readonly provisioners: readonly Provisioner[];
  readonly sources: readonly Source[];
  readonly memory: ByteBudget;
  readonly logger: Logger;
}

/** The options with core's defaults for what they left out. */
export function settingsOf(options: ManagerOptions, parts: OpenParts): ManagerSettings {
  const { leaseName = leaseNameOf(parts.provisioners) } = options;
  return {
    ...parts,
    zone: options.zone,
    kubeconfig: options.kubeconfig,
    systemNamespace: options.systemNamespace ?? podNamespace(),
    allowUnscopedSourceSecrets: options.allowUnscopedSourceSecrets ?? false,
    requireInstallNamespace: options.requireInstallNamespace ?? false,
    limits: { ...defaultLimits, ...options.limits },
    content: { ...defaultContent, ...options.content },
    uploads: options.uploads,
    healthProbeBindAddress: options.healthProbeBindAddress ?? defaultHealthProbeBindAddress,
    leaseName: leaseName === false ? undefined : leaseName,
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

/** @throws Error where certificates could not be followed by others in time. */
function certificateOptions(options: ManagerOptions['certificates']): CertificateOptions {
  const { provider = defaultCertificates.provider, lifetime = defaultCertificates.lifetime } =
    options ?? {};
  if (lifetime < shortestLifetime) {
    throw new Error(`certificates.lifetime must be at least ${shortestLifetime} milliseconds`);
  }
  return { provider, lifetime };
}
