import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../../core/registry/index.ts';
import { pushTestCatalog } from '../../../test/helpers/mirrored-catalog.ts';
import { pushImage } from '../../../test/helpers/push-image.ts';
import { UploadRegistry } from '../../../test/helpers/upload-registry.ts';
import {
  type ImageSet,
  type MirrorOptions,
  type MirrorResult,
  mirrorToCarried,
  mirrorToRegistry,
  pushCarried,
} from '../index.ts';

let source: UploadRegistry;
let mirror: UploadRegistry;
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'catalog-plan-'));
  [source, mirror] = [await UploadRegistry.start(), await UploadRegistry.start()];
});

afterEach(async () => {
  await Promise.all([source.stop(), mirror.stop()]);
  await rm(dir, { recursive: true });
});

const empty = { catalogs: [], additionalImages: [], blockedImages: [], leftOut: [] };
const registry = () => ({ host: mirror.host, prefix: '', insecure: true });

function options(): MirrorOptions {
  const access = new RegistryAccess({
    insecureRegistries: [source.host, mirror.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const { signal } = new AbortController();
  return { access, perHost: 4, signal, onEvent: () => undefined };
}

async function mirrored(set: Partial<ImageSet>): Promise<MirrorResult> {
  return await mirrorToRegistry({ ...empty, ...set }, registry(), options());
}

/** `<repository>:<tag>` of the mirrored images. */
const names = ({ images }: MirrorResult) => images.map(({ path, tag }) => `${path}:${tag}`);

function text({ manifests }: UploadRegistry, key: string): string | undefined {
  return manifests.get(key)?.bytes.toString('utf8');
}

/** The registry gives a tag the manifest of another one as soon as somebody has asked for it. */
function moveWhenRead(tag: string, to: string): void {
  const { manifests } = source;
  const get = manifests.get.bind(manifests);
  const later = get(to);
  manifests.get = (key) => {
    const stored = get(key);
    if (key === tag && later !== undefined) manifests.set(tag, later);
    return stored;
  };
}

test('a whole catalog is copied as it was when its bundles were read', {
  tags: ['slow'],
}, async () => {
  const registry = source.host;
  const place = (tag: string) => ({ registry, catalog: `catalogs/test:${tag}` });
  await pushTestCatalog(place('v2'), [{ name: 'beta', versions: ['1.0.0'] }]);
  const catalog = await pushTestCatalog(place('v1'), [{ name: 'alpha', versions: ['1.0.0'] }]);
  const before = text(source, 'catalogs/test:v1');
  moveWhenRead('catalogs/test:v1', 'catalogs/test:v2');
  const result = await mirrored({ catalogs: [{ catalog, full: true, packages: [] }] });
  expect([...result.failures]).toEqual([]);
  expect(names(result)).toContain('alpha/operand:v1.0.0');
  expect(text(mirror, 'catalogs/test:v1')).toBe(before);
});

test('a bundle that a catalog names by its tag is copied as it was when its images were read', async () => {
  const operator = { name: 'alpha', versions: ['1.0.0', '2.0.0'] };
  await pushTestCatalog({ registry: source.host }, [operator]);
  const blobs = [
    { schema: 'olm.package', name: 'alpha', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'alpha', name: 'stable', entries: [{ name: 'alpha.v1' }] },
    {
      schema: 'olm.bundle',
      package: 'alpha',
      name: 'alpha.v1',
      image: `${source.host}/alpha/bundle:v1.0.0`,
      properties: [{ type: 'olm.package', value: { packageName: 'alpha', version: '1.0.0' } }],
    },
  ];
  await writeFile(join(dir, 'catalog.json'), blobs.map((blob) => JSON.stringify(blob)).join('\n'));
  const before = text(source, 'alpha/bundle:v1.0.0');
  moveWhenRead('alpha/bundle:v1.0.0', 'alpha/bundle:v2.0.0');
  const result = await mirrored({
    catalogs: [{ catalog: dir, targetCatalog: 'own', full: false, packages: [] }],
  });
  expect([...result.failures]).toEqual([]);
  expect(names(result)).toContain('alpha/operand:v1.0.0');
  expect(text(mirror, 'alpha/bundle:v1.0.0')).toBe(before);
});

test('the images of a bundle that the image set names too are mirrored', async () => {
  const operator = { name: 'alpha', versions: ['1.0.0'] };
  const catalog = await pushTestCatalog({ registry: source.host }, [operator]);
  const [bundle] = [...source.manifests.keys()].filter((key) => key.includes('bundle:sha256'));
  const additionalImages = [`${source.host}/${bundle?.replace(':', '@')}`];
  const catalogs = [{ catalog, full: false, packages: [] }];
  const result = await mirrored({ catalogs, additionalImages });
  expect([...result.failures]).toEqual([]);
  expect(names(result)).toContain('alpha/operand:v1.0.0');
});

test('the images of a plain bundle are those of the pods in its manifests', async () => {
  const registry = source.host;
  const image = (name: string) => `${registry}/painter/${name}:v1`;
  const pod = (name: string) => ({ containers: [{ name, image: image(name) }] });
  for (const name of ['web', 'job', 'init', 'db', 'list']) {
    const repository = `painter/${name}`;
    await pushImage({ registry, repository, tag: 'v1', layers: [{ files: { a: repository } }] });
  }
  const objects = [
    {
      kind: 'Deployment',
      spec: {
        template: { spec: { ...pod('web'), initContainers: [{ image: image('init') }] } },
      },
    },
    { kind: 'CronJob', spec: { jobTemplate: { spec: { template: { spec: pod('job') } } } } },
    { kind: 'ConfigMap', data: { containers: 'none', image: image('no-image') } },
  ];
  const files = {
    'manifests/app.yaml': objects.map((each) => JSON.stringify(each)).join('\n---\n'),
    'manifests/db.yaml': `# A pod\n---\n${JSON.stringify({ kind: 'Pod', spec: pod('db') })}`,
    'manifests/list.yaml': JSON.stringify({
      kind: 'List',
      items: [{ kind: 'Pod', spec: pod('list') }],
    }),
  };
  await pushImage({ registry, repository: 'painter/bundle', tag: 'v1', layers: [{ files }] });
  const blobs = [
    { schema: 'olm.package', name: 'painter', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'painter',
      name: 'stable',
      entries: [{ name: 'painter.v1' }],
    },
    {
      schema: 'olm.bundle',
      package: 'painter',
      name: 'painter.v1',
      image: image('bundle'),
      properties: [
        { type: 'olm.package', value: { packageName: 'painter', version: '1.0.0' } },
        { type: 'olm.bundle.mediatype', value: 'plain+v0' },
      ],
    },
  ];
  await writeFile(join(dir, 'catalog.json'), blobs.map((blob) => JSON.stringify(blob)).join('\n'));
  const result = await mirrored({
    catalogs: [{ catalog: dir, targetCatalog: 'own', full: false, packages: [] }],
  });
  expect([...result.failures]).toEqual([]);
  expect(names(result).toSorted()).toEqual([
    'own:latest',
    'painter/bundle:v1',
    'painter/db:v1',
    'painter/init:v1',
    'painter/job:v1',
    'painter/list:v1',
    'painter/web:v1',
  ]);
});

describe('a bundle and its images', () => {
  const operators = [
    { name: 'alpha', versions: ['1.0.0'] },
    { name: 'beta', versions: ['1.0.0'] },
  ];
  let catalogs: ImageSet['catalogs'];

  beforeEach(async () => {
    const catalog = await pushTestCatalog({ registry: source.host }, operators);
    catalogs = [{ catalog, full: false, packages: [] }];
  });

  /** Repositories with a tag on the mirror. */
  const onMirror = () =>
    new Set([...mirror.manifests.keys()].map((key) => key.slice(0, key.indexOf(':'))));

  const leftOut = (operand: string) =>
    `left out, because clusters must not install it without its images, and this one failed: ${source.host}/${operand}`;

  test.each(['related', 'operand'])(
    'go to the mirror together, or its %s is missing',
    async (part) => {
      source.manifests.delete(`alpha/${part}:v1.0.0`);
      const { failures } = await mirrored({ catalogs });
      expect([...failures.values()].filter((problem) => problem.startsWith('left out'))).toEqual([
        expect.stringContaining(leftOut(`alpha/${part}:v1.0.0`)),
      ]);
      expect(onMirror().has('alpha/bundle')).toBe(false);
      expect(onMirror().has('beta/bundle')).toBe(true);
      expect(onMirror().has('catalogs/test')).toBe(true);
      const blockedImages = [`${source.host}/alpha/${part}`];
      expect((await mirrored({ catalogs, blockedImages })).failures.size).toBe(0);
      expect(onMirror().has('alpha/bundle')).toBe(true);
    },
  );

  test.each(['carried', 'carried.tar'])(
    'are carried in %s together',
    { tags: ['slow'] },
    async (name) => {
      const operand = source.manifests.get('alpha/operand:v1.0.0');
      source.manifests.delete('alpha/operand:v1.0.0');
      const place = join(dir, name);
      await mirrorToCarried({ ...empty, catalogs }, place, options());
      await pushCarried(place, registry(), options());
      expect(onMirror().has('alpha/bundle')).toBe(false);
      expect(onMirror().has('beta/bundle')).toBe(true);
      if (operand !== undefined) source.manifests.set('alpha/operand:v1.0.0', operand);
      await mirrorToCarried({ ...empty, catalogs }, place, options());
      mirror.refuses = (repository) => repository === 'alpha/operand';
      const { failures } = await pushCarried(place, registry(), options());
      expect([...failures.values()]).toContainEqual(
        expect.stringContaining(leftOut('alpha/operand:v1.0.0')),
      );
      expect(onMirror().has('alpha/bundle')).toBe(false);
    },
  );

  test('are on the mirror before the catalog is', async () => {
    await mirrored({ catalogs });
    const tags = mirror.seen.filter((each) => /^PUT manifests\/(?!sha256)/.test(each));
    // Bundles alone are named by their digests, and the catalog alone is v1.
    const turns = tags.map((each) =>
      each.includes('mirrored-') ? 1 : each.endsWith('/v1') ? 2 : 0,
    );
    expect(turns).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 2]);
  });
});
