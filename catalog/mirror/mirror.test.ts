import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import { emptyKeychain, mediaTypes, RegistryAccess } from '../../core/registry/index.ts';
import { pushBlob, pushImage, pushManifest } from '../../test/helpers/push-image.ts';
import { UploadRegistry } from '../../test/helpers/upload-registry.ts';
import {
  type ImageSet,
  type MirrorOptions,
  type MirrorRegistry,
  mirrorToCarried,
  mirrorToRegistry,
  pushCarried,
  writeMirrorFiles,
} from './index.ts';

interface Signature {
  readonly payload: string;
  readonly signature: string;
}

interface Signatures {
  readonly mediaType: string;
  readonly config: { readonly digest: string };
  readonly layers: readonly {
    readonly digest: string;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

const ours: Signature = { payload: 'vendor', signature: 'of the vendor' };
const theirs: Signature = { payload: 'company', signature: 'of the company' };
let source: UploadRegistry;
let mirror: UploadRegistry;
let registry: MirrorRegistry;
let dir: string;
/** Of `app`. */
let digest: string;
let events: string[];

beforeEach(async () => {
  [source, mirror] = [await UploadRegistry.start(), await UploadRegistry.start()];
  registry = { host: mirror.host, prefix: 'ocp', insecure: true };
  dir = await mkdtemp(join(tmpdir(), 'mirror-'));
  events = [];
  digest = await pushApp(source.host, 'app');
});

afterEach(async () => {
  await Promise.all([source.stop(), mirror.stop()]);
  await rm(dir, { recursive: true });
});

async function pushApp(host: string, repository: string): Promise<string> {
  const layers = [{ files: { a: 'app' } }];
  return (await pushImage({ registry: host, repository, tag: 'v1', layers })).digest;
}

/** Puts signatures under cosign's tag, as `cosign sign` does. */
async function sign(
  { host, repository, suffix = 'sig' }: { host: string; repository: string; suffix?: string },
  signatures: readonly Signature[],
): Promise<string> {
  const to = { registry: host, repository, tag: tagOf(suffix) };
  const mediaType = 'application/vnd.dev.cosign.simplesigning.v1+json';
  const layers = await Promise.all(
    signatures.map(async ({ payload, signature }) => ({
      ...(await pushBlob(to, { bytes: Buffer.from(payload), mediaType })),
      annotations: { 'dev.cosignproject.cosign/signature': signature },
    })),
  );
  const rootfs = { type: 'layers', diff_ids: layers.map((layer) => layer.digest) };
  const config = { architecture: '', os: '', created: '2026-01-01T00:00:00Z', rootfs };
  const { digest: signed } = await pushManifest(to, {
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    config: await pushBlob(to, {
      bytes: Buffer.from(JSON.stringify(config)),
      mediaType: mediaTypes.ociConfig,
    }),
    layers,
  });
  return signed;
}

function tagOf(suffix: string): string {
  return `${digest.replace(':', '-')}.${suffix}`;
}

function onMirror(repository = 'app', suffix = 'sig'): Signatures {
  const stored = mirror.manifests.get(`ocp/${repository}:${tagOf(suffix)}`);
  return JSON.parse(stored?.bytes.toString('utf8') ?? '{}') as Signatures;
}

function signaturesOf({ layers }: Signatures): readonly (string | undefined)[] {
  return layers.map(({ annotations }) => annotations['dev.cosignproject.cosign/signature']);
}

function diffIdsOf({ config }: Signatures): readonly string[] {
  const text = mirror.blobs.get(config.digest)?.toString('utf8') ?? '{}';
  return (JSON.parse(text) as { rootfs: { diff_ids: string[] } }).rootfs.diff_ids;
}

function options(): MirrorOptions {
  const access = new RegistryAccess({
    insecureRegistries: [source.host, mirror.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  return {
    access,
    perHost: 4,
    signal: new AbortController().signal,
    onEvent: (event) => {
      if (event.kind === 'note') events.push(`note: ${event.text}`);
      else if (event.kind === 'failed') events.push(`error: ${event.problem}`);
      else if (event.kind !== 'bytes' && event.kind !== 'planned')
        events.push(`${event.kind} ${event.source.replace(/^.*?\//, '')}`);
    },
  };
}

function setOf(...images: readonly string[]): ImageSet {
  const additionalImages = images.map((image) => `${source.host}/${image}`);
  return { catalogs: [], additionalImages, blockedImages: [], leftOut: [] };
}

async function straight(set: ImageSet): Promise<void> {
  await mirrorToRegistry(set, registry, options());
}

async function carried(set: ImageSet, name: string): Promise<void> {
  await mirrorToCarried(set, join(dir, name), options());
  await pushCarried(join(dir, name), registry, options());
}

describe.each([
  ['to a registry', straight],
  ['by a directory', async (set: ImageSet) => await carried(set, 'carried')],
  ['by a tar', async (set: ImageSet) => await carried(set, 'carried.tar')],
])('signatures under a tag of cosign, %s', (_way, mirrored) => {
  test('the ones that somebody made on the mirror stay beside the source’s', async () => {
    await sign({ host: source.host, repository: 'app' }, [ours]);
    await sign({ host: mirror.host, repository: 'ocp/app' }, [theirs]);
    await mirrored(setOf('app:v1'));
    const union = onMirror();
    expect(signaturesOf(union)).toEqual(['of the company', 'of the vendor']);
    // cosign refuses a manifest whose configuration lists other layers when it adds a signature.
    expect(diffIdsOf(union)).toEqual(union.layers.map((layer) => layer.digest));
    for (const layer of union.layers) expect(mirror.blobs.has(layer.digest)).toBe(true);

    events = [];
    mirror.seen.length = 0;
    await mirrored(setOf('app:v1'));
    expect(events.at(-1)).toBe('present app:v1');
    expect(mirror.seen.filter((each) => each.startsWith('PUT'))).toEqual([]);
  });

  test('another signature of the same payload is another signature', async () => {
    const again = { ...ours, signature: 'of the company' };
    await sign({ host: source.host, repository: 'app' }, [ours]);
    await sign({ host: mirror.host, repository: 'ocp/app' }, [again]);
    await mirrored(setOf('app:v1'));
    expect(signaturesOf(onMirror())).toEqual(['of the company', 'of the vendor']);
  });

  test('a mirror that has all of the source’s keeps its manifest', async () => {
    await sign({ host: source.host, repository: 'app' }, [ours]);
    const signed = await sign({ host: mirror.host, repository: 'ocp/app' }, [ours, theirs]);
    await mirrored(setOf('app:v1'));
    expect(mirror.manifests.has(`ocp/app:${signed}`)).toBe(true);
    expect(signaturesOf(onMirror())).toEqual(['of the vendor', 'of the company']);
  });

  test('a source that has all of the mirror’s is copied as it is', async () => {
    const signed = await sign({ host: source.host, repository: 'app' }, [theirs, ours]);
    await sign({ host: mirror.host, repository: 'ocp/app' }, [ours]);
    await mirrored(setOf('app:v1'));
    expect(mirror.manifests.has(`ocp/app:${signed}`)).toBe(true);
    expect(signaturesOf(onMirror())).toEqual(['of the company', 'of the vendor']);
  });

  test('an SBOM, of which cosign reads one layer only, stays, and a note says so', async () => {
    await sign({ host: source.host, repository: 'app', suffix: 'sbom' }, [ours]);
    await sign({ host: mirror.host, repository: 'ocp/app', suffix: 'sbom' }, [theirs]);
    for (const _run of [1, 2]) {
      events = [];
      await mirrored(setOf('app:v1'));
      expect(signaturesOf(onMirror('app', 'sbom'))).toEqual(['of the company']);
      expect(events).toContain(
        `note: ${mirror.host}/ocp/app:${tagOf('sbom')} stays as it is, without what the source has under this tag: cosign reads only one SBOM of an image; to have the source's, delete the tag, and run the same command again`,
      );
      expect(events.filter((each) => each.startsWith('error'))).toEqual([]);
    }
    expect(events.at(-1)).toBe('present app:v1');
  });

  test('what is no list of layers stays, and a note says so', async () => {
    await sign({ host: source.host, repository: 'app' }, [ours]);
    const to = { registry: mirror.host, repository: 'ocp/app', tag: tagOf('sig') };
    await pushManifest(to, { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [] });
    await mirrored(setOf('app:v1'));
    expect(onMirror()).toEqual({
      schemaVersion: 2,
      mediaType: mediaTypes.ociIndex,
      manifests: [],
    });
    expect(events.find((each) => each.startsWith('note'))).toContain(tagOf('sig'));
  });

  test('two repositories with one digest have their signatures', async () => {
    expect(await pushApp(source.host, 'other')).toBe(digest);
    await sign({ host: source.host, repository: 'app' }, [ours]);
    await sign({ host: source.host, repository: 'other' }, [theirs]);
    await mirrored(setOf('app:v1', 'other:v1'));
    expect(signaturesOf(onMirror('app'))).toContain('of the vendor');
    expect(signaturesOf(onMirror('other'))).toContain('of the company');
  });
});

/** Writes the files of a run that has mirrored some images, and failed for others. */
async function filesOf(names: readonly string[], ...failed: readonly string[]) {
  const source = (name: string) => `quay.io/${name}:v1`;
  const images = names.map((name) => ({ source: source(name), digest, path: name, tag: 'v1' }));
  const failures = new Map(failed.map((name) => [source(name), 'no answer']));
  return await writeMirrorFiles(join(dir, 'results'), { images, failures }, registry);
}

const mapping = (name: string) => `quay.io/${name}:v1=${mirror.host}/ocp/${name}:v1\n`;

test('files of an earlier run with other content stay as .previous', async () => {
  const results = join(dir, 'results');
  const first = await filesOf(['one', 'two']);
  expect(first.previous).toEqual([]);
  const again = await filesOf(['one', 'two']);
  expect(again).toEqual(first);
  const less = await filesOf(['one']);
  expect(less.previous).toEqual(['registries.conf', 'mapping.txt', ...less.previous.slice(2)]);
  const text = async (name: string) => await readFile(join(results, name), 'utf8');
  expect(await text('mapping.txt')).toBe(mapping('one'));
  expect(await text('mapping.txt.previous')).toBe(mapping('one') + mapping('two'));
  expect(await readdir(results)).toEqual(
    [...first.names, ...less.previous.map((name) => `${name}.previous`)].toSorted(),
  );
});

test('files of an earlier run stay in their place after a run in which images fail', async () => {
  const text = async (name: string) => await readFile(join(dir, 'results', name), 'utf8');
  expect((await filesOf(['one'], 'two')).incomplete).toEqual([]);
  await filesOf(['one', 'two']);
  for (const names of [['one'], []]) {
    const { incomplete, previous } = await filesOf(names, 'two');
    expect(incomplete).toContain('registries.conf');
    expect(previous).toEqual([]);
    expect(await text('mapping.txt')).toBe(mapping('one') + mapping('two'));
    expect(await text('mapping.txt.incomplete')).toBe(names.map(mapping).join(''));
  }
  const { names, incomplete } = await filesOf(['one', 'two'], 'three');
  expect([names.includes('registries.conf'), incomplete]).toEqual([true, []]);
  await filesOf(['two']);
  expect(await text('mapping.txt')).toBe(mapping('two'));
});
