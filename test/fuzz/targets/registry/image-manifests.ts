import { TerminalError } from '../../../../core/errors.ts';
import { parseManifest } from '../../../../core/registry/index.ts';
import { type FuzzTarget, Violation } from '../../fuzz-target.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const oci = 'application/vnd.oci.image';
const layer = { mediaType: `${oci}.layer.v1.tar+gzip`, digest, size: 12 };
const manifest = {
  schemaVersion: 2,
  mediaType: `${oci}.manifest.v1+json`,
  config: { mediaType: `${oci}.config.v1+json`, digest, size: 2 },
  layers: [layer, layer],
};
const index = {
  schemaVersion: 2,
  mediaType: `${oci}.index.v1+json`,
  manifests: [
    {
      mediaType: manifest.mediaType,
      digest,
      size: 5,
      platform: { os: 'linux', architecture: 'amd64' },
    },
    {
      mediaType: manifest.mediaType,
      digest,
      size: 5,
      annotations: { 'vnd.docker.reference.type': 'x' },
    },
  ],
};
const chart = {
  ...manifest,
  config: { ...manifest.config, mediaType: 'application/vnd.cncf.helm.config.v1+json' },
};

/** Manifests and indexes as registries send them. */
export const imageManifests: FuzzTarget = {
  name: 'image-manifests',
  seeds: [manifest, index, chart].map((value) => JSON.stringify(value)),
  words: [
    '"mediaType":"',
    '"layers":[]',
    '"manifests":{}',
    '"platform":null',
    '"size":-1',
    '"schemaVersion":1',
    '1e30',
  ].concat([`${oci}.index.v1+json`, 'sha512:', 'sha256:zz', '"__proto__":{"mediaType":"x"},']),
  refusals: [TerminalError],
  read(input) {
    const read = parseManifest(input, `${oci}.manifest.v1+json; charset=utf-8`);
    if (read.kind === 'index') {
      read.select({ os: 'linux', architecture: 'amd64' });
      return;
    }
    for (const { digest: named, size } of read.layers) {
      if (!/^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$/.test(named))
        throw new Violation(`takes the digest ${named}`);
      if (!Number.isSafeInteger(size) || size < 0) throw new Violation(`takes the size ${size}`);
    }
  },
};
