import type { DeletionPolicy, PrunePolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type { CertificateOptions } from '../bundle-deployment/index.ts';
import type { ContentLimits } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Source } from '../contracts/source.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import type { ContentOptions, UploadOptions, Zone } from './options.ts';

/** What core's parts are made from: the options of a process with all that they left out. */
export interface ManagerSettings {
  readonly provisioners: readonly Provisioner[];
  /** Both where absent. */
  readonly zone?: Zone | undefined;
  readonly sources: readonly Source[];
  readonly kubeconfig?: string | undefined;
  readonly systemNamespace: string;
  readonly allowUnscopedSourceSecrets: boolean;
  readonly requireInstallNamespace: boolean;
  readonly limits: ContentLimits;
  readonly content: ContentOptions;
  readonly uploads?: UploadOptions | undefined;
  readonly healthProbeBindAddress: string;
  /** None where absent. */
  readonly leaseName?: string | undefined;
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
