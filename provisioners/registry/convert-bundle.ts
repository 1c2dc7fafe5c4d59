import {
  type BundleFiles,
  type ClusterFacts,
  errorMessage,
  type KubernetesObject,
  TerminalError,
} from '../../core/sdk.ts';
import type { RegistryConfig } from './config/registry-config.ts';
import { convert } from './convert.ts';
import { planInstallation } from './plan-installation.ts';
import { readRegistryBundle } from './read-bundle.ts';

export interface ConvertBundleOptions {
  /** Of the deployment; what the bundle itself suggests counts where absent. */
  readonly config?: RegistryConfig;
  /** Of the cluster that it is for, where there is one. */
  readonly cluster?: ClusterFacts;
  /** Type of the Bundle's source, which some messages depend on; that of archives where absent. */
  readonly sourceType?: string;
  /** How many objects the bundle may have; unlimited where absent. */
  readonly maxObjects?: number;
}

/**
 * Reads and converts the content of a registry+v1 bundle.
 * @throws TerminalError with the message of the Bundle's Unpacked condition (spec section 8.2).
 */
export function convertRegistryBundle(
  files: BundleFiles,
  options: ConvertBundleOptions = {},
): readonly KubernetesObject[] {
  try {
    const bundle = readRegistryBundle(files, options);
    return convert(bundle, planInstallation(bundle, options.config, options.cluster));
  } catch (error) {
    throw new TerminalError(
      `convert registry+v1 bundle to plain+v0 bundle: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
