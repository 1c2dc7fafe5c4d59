import { describe, expect, it } from 'vitest';
import { TerminalError } from '../errors.ts';
import { parseManifest } from './manifest.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const imageType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';
const config = { mediaType: 'application/vnd.oci.image.config.v1+json', digest, size: 2 };
const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest, size: 3 };
const image = { schemaVersion: 2, mediaType: imageType, config, layers: [layer] };

function parse(manifest: unknown, contentType = '') {
  return parseManifest(Buffer.from(JSON.stringify(manifest)), contentType);
}

function artifact(...layerTypes: string[]) {
  return {
    ...image,
    artifactType: 'application/vnd.example',
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest, size: 2 },
    layers: layerTypes.map((mediaType) => ({ ...layer, mediaType })),
  };
}

describe('parseManifest', () => {
  it('reads images by their own word or by that of the registry', () => {
    expect(parse(image)).toMatchObject({ kind: 'image', layers: [{ digest, size: 3 }] });
    const { mediaType: _, ...silent } = image;
    expect(parse(silent, `${imageType}; charset=utf-8`)).toMatchObject({ kind: 'image' });
  });

  it('selects the manifest of a platform from an index', () => {
    const platform = { os: 'linux', architecture: 'arm', variant: 'v7' };
    const manifests = [
      { mediaType: imageType, digest, size: 1 },
      { mediaType: imageType, digest, size: 2, platform: { os: 'linux', architecture: 'arm64' } },
      { mediaType: imageType, digest, size: 3, platform },
    ];
    const index = parse({ schemaVersion: 2, mediaType: indexType, manifests });
    if (index.kind !== 'index') throw new Error('not an index');
    expect(index.select(platform)).toMatchObject({ size: 3 });
    expect(index.select({ os: 'linux', architecture: 'arm' })).toMatchObject({ size: 3 });
    expect(index.select({ os: 'linux', architecture: 'amd64' })).toMatchObject({ size: 1 });
  });

  it('passes over what lies beside the images of an index', () => {
    const entry = { mediaType: imageType, digest };
    const amd64 = { os: 'linux', architecture: 'amd64' };
    const unknown = { os: 'unknown', architecture: 'unknown' };
    const annotations = { 'vnd.docker.reference.type': 'attestation-manifest' };
    const beside = [
      { ...entry, size: 1, platform: unknown },
      { ...entry, size: 2, artifactType: 'application/vnd.sbom', platform: amd64 },
      { ...entry, size: 3, annotations },
    ];
    const select = (...more: object[]) => {
      const index = parse({ mediaType: indexType, manifests: [...beside, ...more] });
      return index.kind === 'index' ? index.select(amd64) : undefined;
    };
    expect(select({ ...entry, size: 4, platform: amd64 })).toMatchObject({ size: 4 });
    const nested = { ...entry, mediaType: indexType };
    expect(select({ ...nested, size: 5 })).toMatchObject({ size: 5 });
    expect(select({ ...nested, size: 6 }, { ...entry, size: 7, platform: amd64 })).toMatchObject({
      size: 7,
    });
    expect(() => select({ ...nested, size: 8 }, { ...nested, size: 9 })).toThrow(
      'it has one without a platform, one without a platform',
    );
    expect(() => select()).toThrow('it has none at all');
  });

  it("takes a Helm chart's content, and leaves what signs it", () => {
    const type = 'application/vnd.cncf.helm.chart';
    const content = `${type}.content.v1.tar+gzip`;
    const provenance = `${type}.provenance.v1.prov`;
    const chart = (...types: string[]) => ({
      ...artifact(...types),
      artifactType: undefined,
      config: { mediaType: 'application/vnd.cncf.helm.config.v1+json', digest, size: 2 },
    });
    for (const types of [[content], [content, provenance], [provenance, content]]) {
      expect(parse(chart(...types))).toMatchObject({
        isArtifact: true,
        isChart: true,
        layers: [{ mediaType: content }],
      });
    }
    expect(() => parse(chart(provenance))).toThrow(
      'it is an artifact of type "application/vnd.cncf.helm.config.v1+json" and no bundle, which has a tar archive as its only layer; its layers are none',
    );
    // Beside other content it would be a layer like any other.
    expect(() => parse(artifact(content, provenance))).toThrow('no bundle');
  });

  it.each([
    'application/vnd.oci.image.layer.v1.tar+gzip',
    'application/vnd.oci.image.layer.v1.tar',
    'application/vnd.docker.image.rootfs.diff.tar.gzip',
    'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
    'application/vnd.example.content.v1.tar+zstd',
    'application/x-tar',
    'application/tar+gzip',
    'application/gzip',
    'application/x-gzip',
    'application/zstd',
    'application/x-tgz',
  ])('takes an artifact whose only layer is of type %s', (type) => {
    expect(parse(artifact(type))).toMatchObject({ kind: 'image', layers: [{ digest }] });
  });

  it.each([
    [
      'schema 1',
      { schemaVersion: 1, fsLayers: [] },
      'image manifest schema 1 is not supported; push the image again with a current tool',
    ],
    [
      'an artifact manifest',
      { mediaType: 'application/vnd.oci.artifact.manifest.v1+json' },
      'it is an artifact manifest ("application/vnd.oci.artifact.manifest.v1+json"), not an image',
    ],
    ['an artifact', { ...image, artifactType: 'application/vnd.example.sbom' }, undefined],
    [
      'an artifact that is no archive',
      artifact('application/vnd.cyclonedx+json'),
      'it is an artifact of type "application/vnd.example" and no bundle, which has a tar archive as its only layer; its layers are "application/vnd.cyclonedx+json"',
    ],
    [
      'an artifact of two archives',
      artifact('application/x-tar', 'application/x-tar'),
      'it is an artifact of type "application/vnd.example" and no bundle, which has a tar archive as its only layer; its layers are "application/x-tar", "application/x-tar"',
    ],
    [
      'an artifact of nothing, known by its config',
      { ...artifact(), artifactType: undefined },
      'it is an artifact of type "application/vnd.oci.empty.v1+json" and no bundle, which has a tar archive as its only layer; its layers are none',
    ],
    [
      'an unknown kind',
      { schemaVersion: 2, mediaType: 'text/plain' },
      'unsupported manifest media type "text/plain"',
    ],
    ['no kind', {}, 'unsupported manifest media type ""'],
    [
      'an unknown kind of layer',
      { ...image, layers: [{ ...layer, mediaType: 'application/x-7z' }] },
      `layer ${digest} has the unsupported media type "application/x-7z"`,
    ],
    [
      'a layer without a digest',
      { ...image, layers: [{ ...layer, digest: '../../etc/passwd' }] },
      'the manifest is not valid: layers.0.digest: not a valid digest',
    ],
    [
      'a layer of negative size',
      { ...image, layers: [{ ...layer, size: -1 }] },
      'the manifest is not valid: layers.0.size: Too small: expected number to be >=0',
    ],
    [
      'very many layers',
      { ...image, layers: Array.from({ length: 257 }, () => layer) },
      'the manifest is not valid: layers: more than 256 layers',
    ],
    [
      'no layers',
      { ...image, layers: null },
      'the manifest is not valid: layers: Invalid input: expected array, received null',
    ],
    ['a list', [], 'the manifest is not valid: Invalid input: expected object, received array'],
    ['null', null, 'the manifest is not valid: Invalid input: expected object, received null'],
  ])('says what is wrong with %s', (_, manifest, problem) => {
    if (problem === undefined) expect(parse(manifest)).toMatchObject({ kind: 'image' });
    else expect(() => parse(manifest)).toThrow(new TerminalError(problem));
  });

  it('refuses what could be read in two ways', () => {
    const { mediaType: _, ...silent } = image;
    expect(() => parse({ ...silent, manifests: [] }, imageType)).toThrow(TerminalError);
  });

  it.each(['', '{', '{"a":"\xff"}'])('refuses %j', (text) => {
    expect(() => parseManifest(Buffer.from(text, 'latin1'), imageType)).toThrow(
      new TerminalError('the manifest is not valid JSON'),
    );
  });
});
