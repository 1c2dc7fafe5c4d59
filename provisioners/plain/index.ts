import {
  type Bundle,
  type BundleFiles,
  defineProvisioner,
  objectsOf,
  type ProvisionerContext,
  readPlainBundle,
} from '../../core/sdk.ts';

/** plain+v0: a flat `manifests` directory of objects, applied as they are. */
// oxlint-disable-next-line import/no-default-export -- what every provisioner's module exports
export default defineProvisioner({
  className: 'core-rukpak-io-plain',
  bundle: validate,
  deployment: async (files, _deployment, { limits }) =>
    objectsOf(files, { maxObjects: limits.maxEntries }),
});

/** Returns a plain+v0 tree unchanged, including files outside of `manifests`. */
async function validate(
  files: BundleFiles,
  bundle: Bundle,
  { limits }: ProvisionerContext,
): Promise<BundleFiles> {
  readPlainBundle(files, { sourceType: bundle.spec.source.type, maxObjects: limits.maxEntries });
  return files;
}
