import {
  type BundleFiles,
  BundleFilesBuilder,
  type ContentLimits,
  defineProvisioner,
  errorMessage,
  type KubernetesObject,
  readPlainBundle,
  TerminalError,
  toYaml,
} from '../../core/sdk.ts';
import { convertRegistryBundle } from './convert-bundle.ts';

/**
 * The class `core-rukpak-io-registry` (spec section 8.2): registry+v1 bundles are stored as plain+v0.
 * It serves Bundles only; their content is deployed by the class `core-rukpak-io-plain`.
 */
// oxlint-disable-next-line import/no-default-export -- what every provisioner's module exports
export default defineProvisioner({
  className: 'core-rukpak-io-registry',
  bundle: async (files, bundle, { limits }) => {
    const maxObjects = limits.maxEntries;
    const sourceType = bundle.spec.source.type;
    const objects = convertRegistryBundle(files, { sourceType, maxObjects });
    const converted = plainContent(objects, limits);
    validate(converted, maxObjects);
    return converted;
  },
});

function plainContent(objects: readonly KubernetesObject[], limits: ContentLimits): BundleFiles {
  const builder = new BundleFilesBuilder(limits);
  builder.addFile('manifests/manifest.yaml', new TextEncoder().encode(toYaml(objects)));
  return builder.build();
}

/** What is stored is what a deployment will read: it has to be readable now, not only then. */
function validate(converted: BundleFiles, maxObjects: number): void {
  try {
    readPlainBundle(converted, { maxObjects });
  } catch (error) {
    throw new TerminalError(`validate bundle: ${errorMessage(error)}`, { cause: error });
  }
}
