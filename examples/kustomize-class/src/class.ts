import { defineProvisioner } from 'rukpak-ts/sdk';
import { build } from './build.ts';
import { configuredFolder } from './configured-folder.ts';
import { refuseWithoutKustomization } from './folder.ts';

/** Content with a kustomization.yaml, installed as kustomize v5.5 would print it. */
export default defineProvisioner({
  className: 'example-com-kustomize',

  async bundle(files) {
    refuseWithoutKustomization(files);
    return files;
  },

  async deployment(files, deployment, { limits }) {
    return build(configuredFolder(files, deployment), limits);
  },
});
