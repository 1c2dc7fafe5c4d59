import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stringify } from 'yaml';
import type { LayerFiles } from './image/layer.ts';
import { writeLayer } from './image/layer.ts';

/** The archive of the kubectl plugin, the same for all systems with Node. */
export async function pluginArchive(product: LayerFiles): Promise<Uint8Array> {
  return await promisify(gzip)(writeLayer(product));
}

export interface PluginOptions {
  readonly version: string;
  readonly archive: Uint8Array;
  /** URL of the archive; a file name only works with `kubectl krew install --archive`. */
  readonly url: string;
}

/** The manifest for `kubectl krew install --manifest`. */
export function krewManifest({ version, archive, url }: PluginOptions): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'bundle' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Install, inspect and debug bundles of RukPak',
      description:
        'Runs bundles from your own directory, and shows what BundleDeployments\n' +
        'have installed, what an upgrade would change, and why one is not healthy.\n',
      caveats: 'Needs Node.js 24 or later in the PATH.\n',
      platforms: [
        {
          selector: {
            matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }],
          },
          uri: url,
          sha256: createHash('sha256').update(archive).digest('hex'),
          bin: 'bin/kubectl-bundle',
        },
      ],
    },
  });
}
