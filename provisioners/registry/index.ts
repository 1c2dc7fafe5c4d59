import { annotation } from '../../api/v1alpha1/index.ts';
import {
  type Bundle,
  type BundleDeployment,
  type BundleFiles,
  type ContentLimits,
  checkPlainObjects,
  type DeploymentContext,
  defineProvisioner,
  errorMessage,
  type KubernetesObject,
  TerminalError,
} from '../../core/sdk.ts';
import { parseConfig } from './config.ts';
import { convertForUnpacking, convertRegistryBundle } from './convert.ts';
import {
  convertedFile,
  deployedContent,
  originalContent,
  plainContent,
  storedContent,
} from './stored-content.ts';

export { withServedApiVersion } from './bundle/kinds.ts';
export {
  type BundleProblem,
  parseRegistryManifest,
  type RegistryBundle,
  readPackageName,
  readRegistryManifests,
  registryBundleOf,
} from './bundle/registry-bundle.ts';
export { parseConfig, type RegistryConfig } from './config.ts';
export { convertForUnpacking, convertRegistryBundle } from './convert.ts';
export { anyInstallation, type Installation, planInstallation } from './installation.ts';
export { markSamples } from './samples.ts';
export { validators } from './validators/index.ts';
export { supportedInstallMode } from './validators/install-modes.ts';
export { servedCrdVersion } from './validators/manifests.ts';

/**
 * The class `core-rukpak-io-registry`: registry+v1 bundles are stored as plain+v0,
 * with the files that they were made from. It serves Bundles only; their content is deployed by the
 * class `core-rukpak-io-plain`, after this one has adapted it to spec.config and cluster
 * (docs/adr/0029).
 */
// oxlint-disable-next-line import/no-default-export -- what every provisioner's module exports
export default defineProvisioner({
  className: 'core-rukpak-io-registry',
  uses: ['cluster'],
  bundle: async (files, bundle, { limits }) => unpack(files, bundle, limits),
  configure: async (files, deployment, context) => configure(files, deployment, context),
});

function unpack(files: BundleFiles, bundle: Bundle, limits: ContentLimits): BundleFiles {
  const { objects, forAllNamespaces } = convertForUnpacking(files, {
    configured: bundle.metadata.annotations?.[annotation.configured] === 'true',
    sourceType: bundle.spec.source.type,
    maxObjects: limits.maxEntries,
  });
  validate(objects, limits.maxEntries);
  const converted = forAllNamespaces ? plainContent(objects, limits) : undefined;
  return storedContent(files, converted, limits);
}

/** A deployment will read the stored content, so it must be readable now. */
function validate(objects: readonly KubernetesObject[], maxObjects: number): void {
  try {
    checkPlainObjects({ path: convertedFile, objects }, maxObjects);
  } catch (error) {
    throw new TerminalError(`validate bundle: ${errorMessage(error)}`, { cause: error });
  }
}

function configure(
  stored: BundleFiles,
  { spec }: BundleDeployment,
  { limits, logger, cluster, installed = false }: DeploymentContext,
): BundleFiles {
  const config = parseConfig(spec.config, logger);
  const files = originalContent(stored);
  if (files === undefined) return withoutOriginals(stored, config !== undefined);
  const objects = convertRegistryBundle(files, {
    ...(config === undefined ? {} : { config }),
    ...(cluster === undefined ? {} : { cluster }),
    installed,
    maxObjects: limits.maxEntries,
  });
  return deployedContent(objects, limits);
}

/**
 * Content that was too large to be stored with its conversion, or that an earlier version stored.
 */
function withoutOriginals(stored: BundleFiles, configured: boolean): BundleFiles {
  if (!configured) return stored;
  throw new TerminalError(
    'spec.config needs the original files of the bundle, and only their conversion is stored: delete the Bundle so that core unpacks it again, and raise --max-content-bytes if the content has more than half of that',
  );
}
