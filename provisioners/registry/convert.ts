import {
  type BundleFiles,
  type ClusterFacts,
  errorMessage,
  type KubernetesObject,
  TerminalError,
  WaitingError,
} from '../../core/sdk.ts';
import { uniqueObjects } from './bundle/objects.ts';
import {
  type ReadBundleOptions,
  type RegistryBundle,
  readRegistryBundle,
} from './bundle/registry-bundle.ts';
import type { RegistryConfig } from './config.ts';
import { generators } from './generators/index.ts';
import {
  anyInstallation,
  type Installation,
  planInstallation,
  watchesAllNamespaces,
} from './installation.ts';
import { lackOf } from './requirements.ts';
import { problemsMessage } from './validators/index.ts';

interface ConvertBundleOptions extends ReadBundleOptions {
  /** Config of the deployment; without one the bundle is installed as by v0.16. */
  readonly config?: RegistryConfig;
  /** Facts about the target cluster, if known. */
  readonly cluster?: ClusterFacts;
  /**
   * Do not wait for missing requirements, because the deployment has the same content installed.
   */
  readonly installed?: boolean;
}

/**
 * Reads and converts the content of a registry+v1 bundle.
 * @throws TerminalError with the message of the Bundle's Unpacked condition, and WaitingError that
 * names missing requirements of the cluster.
 */
export function convertRegistryBundle(
  files: BundleFiles,
  options: ConvertBundleOptions = {},
): readonly KubernetesObject[] {
  const { config, cluster, installed = false } = options;
  return explained(() => {
    const bundle = readRegistryBundle(files, options);
    return convert(bundle, { ...planInstallation(bundle, config, cluster), installed });
  });
}

export interface Unpacked {
  readonly objects: readonly KubernetesObject[];
  /** The result of v0.16; false when a deployment's spec.config must choose the namespaces. */
  readonly forAllNamespaces: boolean;
}

/**
 * The same before there is a deployment. A deployment with a spec.config may use any install mode,
 * so only problems of every mode are reported here.
 * @throws TerminalError as above.
 */
export function convertForUnpacking(
  files: BundleFiles,
  options: ReadBundleOptions & { readonly configured: boolean },
): Unpacked {
  return explained(() => {
    const bundle = readRegistryBundle(files, options);
    const installation = options.configured ? anyInstallation(bundle) : planInstallation(bundle);
    return {
      objects: convert(bundle, installation),
      forAllNamespaces: watchesAllNamespaces(installation),
    };
  });
}

function explained<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof WaitingError) throw error;
    throw new TerminalError(
      `convert registry+v1 bundle to plain+v0 bundle: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/**
 * Converts a registry+v1 bundle to the objects of a plain+v0 bundle. Keeps content as written; each
 * object appears once, and the bundle's own one has priority over a generated one.
 * @throws TerminalError with all problems of the validators, without a prefix, and WaitingError
 * that names missing requirements, when the cluster is known.
 */
export function convert(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const problems = problemsMessage(bundle, installation);
  if (problems !== undefined) throw new TerminalError(problems);
  const lack = lackOf(bundle, installation);
  if (lack !== undefined) throw new WaitingError(lack);
  return uniqueObjects(generators.flatMap((generate) => generate(bundle, installation)));
}
