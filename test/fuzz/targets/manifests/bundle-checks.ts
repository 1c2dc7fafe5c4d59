import {
  opmVerdict,
  optionalChecks,
  validateBundle,
} from '../../../../catalog/bundle-checks/index.ts';
import type { FuzzTarget } from '../../fuzz-target.ts';
import { registryBundles } from './registry-bundles.ts';

const prefix = 'operators.operatorframework.io.bundle.';
const annotations = Buffer.from(
  `annotations: {${prefix}mediatype.v1: registry+v1, ${prefix}manifests.v1: manifests/, ${prefix}metadata.v1: metadata/, ${prefix}package.v1: a, ${prefix}channels.v1: a}`,
);

/** Checks report all problems of any bundle, and never throw. */
export const bundleChecks: FuzzTarget = {
  name: 'bundle-checks',
  seeds: registryBundles.seeds,
  words: [
    ...(registryBundles.words ?? []),
    'metadata: []',
    'spec: x',
    'apiVersion: 1',
    'owned: {}',
  ],
  refusals: [],
  read(input) {
    const manifests = ['manifests/a.yaml', input] as const;
    const metadata = ['metadata/annotations.yaml', annotations] as const;
    const directories = new Set(['manifests', 'metadata']);
    for (const files of [
      new Map([manifests, metadata]),
      new Map([manifests, ['metadata/a', input]]),
    ]) {
      opmVerdict({ files, directories }, { optional: ['operatorhub'] });
      validateBundle(
        { files, directories },
        { className: 'core-rukpak-io-registry', optional: optionalChecks },
      );
    }
  },
};
