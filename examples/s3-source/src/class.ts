import { defineProvisioner, objectsOf, readPlainBundle } from 'rukpak-ts/sdk';

/** Manifests as they are: the objects of all files in the folder `manifests`. */
export default defineProvisioner({
  className: 'example-com-manifests',

  async bundle(files, _, { limits }) {
    readPlainBundle(files, { maxObjects: limits.maxEntries });
    return files;
  },

  async deployment(files, _, { limits }) {
    return objectsOf(files, { maxObjects: limits.maxEntries });
  },
});
