import { describe, expect, test } from 'vitest';
import { parseManifests } from '../../../core/manifests/index.ts';
import type { CarriedImage, MirrorRegistry } from '../carried-images.ts';
import { clusterResources } from './cluster-resources.ts';
import { mappingText, mirroredRepositories, registriesConf } from './mirror-files.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const registry: MirrorRegistry = { host: 'mirror.example:5000', prefix: 'ocp', insecure: false };

function anImage(source: string, tag: string): CarriedImage {
  const path = source.replace(/^[^/]*\//, '').replace(/[:@].*$/, '');
  return { source, digest, path, tag };
}

const byDigest = anImage(`quay.example/app/server@${digest}`, 'mirrored-1');
const byTag = anImage('ghcr.example/tools/cli:v1', 'v1');
const repositories = mirroredRepositories([byDigest, byTag], registry);

test('each repository is mirrored, for digests only where all are asked for by digest', () => {
  expect(registriesConf(repositories, registry)).toBe(`[[registry]]
location = "ghcr.example/tools/cli"

[[registry.mirror]]
location = "mirror.example:5000/ocp/tools/cli"

[[registry]]
location = "quay.example/app/server"

[[registry.mirror]]
location = "mirror.example:5000/ocp/app/server"
pull-from-mirror = "digest-only"
`);
});

test('a repository whose images are on the mirror under several paths has all of them', () => {
  const other = { ...byDigest, path: 'catalogs/mine', tag: 'v2' };
  const [repository] = mirroredRepositories([byDigest, other, byDigest], registry);
  const mirrors = ['mirror.example:5000/ocp/app/server', 'mirror.example:5000/ocp/catalogs/mine'];
  expect(repository?.mirrors).toEqual(mirrors);
  const written = registriesConf(repository === undefined ? [] : [repository], registry);
  expect(written.match(/^location = "mirror.*$/gm)).toEqual(
    mirrors.map((mirror) => `location = "${mirror}"`),
  );
});

test('a mirror without TLS is named as one, for its own name too, which catalogs have', () => {
  const written = registriesConf(repositories, { ...registry, insecure: true });
  expect(written.match(/^insecure = true$/gm)).toHaveLength(3);
  const itself = '[[registry]]\nlocation = "mirror.example:5000/ocp"\ninsecure = true\n';
  expect(written.startsWith(`${itself}\n`)).toBe(true);
  const whole = { host: 'mirror.example', prefix: '', insecure: true };
  expect(registriesConf([], whole)).toBe(
    '[[registry]]\nlocation = "mirror.example"\ninsecure = true\n',
  );
});

test('mapping.txt has a line for each image', () => {
  expect(mappingText([byDigest, byTag], registry)).toBe(
    `ghcr.example/tools/cli:v1=mirror.example:5000/ocp/tools/cli:v1
quay.example/app/server@${digest}=mirror.example:5000/ocp/app/server:mirrored-1
`,
  );
});

describe('objects for clusters', () => {
  const catalog = {
    ...anImage('quay.example/catalogs/Community_Index:V4.18', 'V4.18'),
    path: 'catalogs/community_index',
    catalog: { directory: '/configs', isPruned: true },
  };
  const files = clusterResources(repositories, [byDigest, catalog], registry);
  const object = (file: string) => parseManifests(file, Buffer.from(files.get(file) ?? ''))[0];

  test('say where digests and tags are mirrored', () => {
    const digests = [
      { source: 'quay.example/app/server', mirrors: ['mirror.example:5000/ocp/app/server'] },
    ];
    expect(object('imagedigestmirrorset.yaml')).toMatchObject({
      kind: 'ImageDigestMirrorSet',
      spec: { imageDigestMirrors: digests },
    });
    expect(object('imagecontentsourcepolicy.yaml')).toMatchObject({
      spec: { repositoryDigestMirrors: digests },
    });
    expect(object('imagetagmirrorset.yaml')).toMatchObject({
      spec: {
        imageTagMirrors: [
          { source: 'ghcr.example/tools/cli', mirrors: ['mirror.example:5000/ocp/tools/cli'] },
        ],
      },
    });
  });

  describe.each(['imagecontentsourcepolicy', 'imagedigestmirrorset', 'imagetagmirrorset'])(
    'of %s',
    (file) => {
      /** Their specs by name. */
      function written(repositoriesOfSet: readonly string[], to = registry) {
        const images = repositoriesOfSet.flatMap((name) => [
          anImage(`${name}@${digest}`, 'mirrored-1'),
          anImage(`${name}:v1`, 'v1'),
        ]);
        const files = clusterResources(mirroredRepositories(images, to), images, to);
        const text = Buffer.from(files.get(`${file}.yaml`) ?? '');
        return new Map(
          parseManifests(file, text).map(({ metadata, spec }) => [metadata.name ?? '', spec]),
        );
      }

      test('those of one image set replace none of another one', () => {
        const [one, other] = [written(['quay.example/a/app']), written(['quay.example/b/app'])];
        expect([...one.keys()]).toEqual([
          expect.stringMatching(/^mirror-quay-example-a-app-[0-9a-f]{8}$/),
        ]);
        for (const name of other.keys()) expect(one.has(name)).toBe(false);
      });

      test('those of a grown image set are the same and further ones', () => {
        const before = written(['quay.example/b/app']);
        const after = written(['quay.example/a/app', 'quay.example/b/app']);
        expect(after.size).toBe(2);
        for (const [name, spec] of before) expect(after.get(name)).toEqual(spec);
      });

      test('those of another mirror stand beside them', () => {
        const before = written(['quay.example/a/app']);
        const after = written(['quay.example/a/app'], { ...registry, prefix: 'other' });
        for (const name of after.keys()) expect(before.has(name)).toBe(false);
      });
    },
  );

  test('name the catalog on the mirror, for each of the kinds that read catalogs', () => {
    const image = 'mirror.example:5000/ocp/catalogs/community_index:V4.18';
    expect(object('catalogsource.yaml')).toMatchObject({
      metadata: { name: 'cs-ocp-catalogs-community-index-v4-18' },
      spec: { image, grpcPodConfig: { extractContent: { catalogDir: '/configs' } } },
    });
    expect(object('catalog.yaml')).toMatchObject({ spec: { source: { image: { ref: image } } } });
    expect(object('clustercatalog.yaml')).toMatchObject({
      metadata: { name: 'cc-ocp-catalogs-community-index-v4-18' },
      spec: { source: { type: 'Image', image: { ref: image } } },
    });
  });

  describe('the name of a catalog', () => {
    /** Images by the names of their CatalogSources. */
    function named(paths: readonly string[], to = registry): ReadonlyMap<string, string> {
      const images = paths.map((each) => {
        const [path = '', tag = ''] = each.split(':');
        return { ...catalog, source: `quay.example/${each}`, path, tag };
      });
      const written = clusterResources([], images, to).get('catalogsource.yaml') ?? '';
      const sources = parseManifests('catalogsource.yaml', Buffer.from(written));
      return new Map(
        sources.map(({ metadata, spec }) => [
          metadata.name ?? '',
          (spec as { readonly image: string }).image,
        ]),
      );
    }

    function expectKept(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
      for (const [name, image] of before) expect([undefined, image]).toContain(after.get(name));
    }

    test('stays with it when the image set has another one with the same end', () => {
      const alone = named(['team/operator-index:v4.18']);
      const both = named(['acme/operator-index:v4.18', 'team/operator-index:v4.18']);
      expect([...alone.keys()]).toEqual(['cs-ocp-team-operator-index-v4-18']);
      expect(both.size).toBe(2);
      expectKept(alone, both);
      expectKept(both, named(['acme/operator-index:v4.18']));
    });

    test('is not given to another one that differs in signs or at its end only', () => {
      const alike = ['a/b-c:v1', 'a-b/c:v1'];
      expect(named(alike).size).toBe(2);
      expect(named(alike.toReversed())).toEqual(named(alike));
      const long = 'a'.repeat(80);
      const [one, two] = [named([`${long}/one:v1`]), named([`${long}/two:v1`])];
      expect([...one.keys()]).not.toEqual([...two.keys()]);
      for (const name of one.keys()) expect(name.length).toBeLessThanOrEqual(63);
    });

    test('is another one below another prefix of the mirror', () => {
      const other = named(['team/index:v1'], { ...registry, prefix: 'other' });
      expect([...other.keys()]).not.toEqual([...named(['team/index:v1']).keys()]);
    });
  });

  test('a pruned catalog is no mirror of its source; mapping.txt has it', () => {
    expect(mirroredRepositories([catalog], registry)).toEqual([]);
    expect(mappingText([catalog], registry)).toContain('catalogs/community_index:V4.18');
  });

  test('are left out where there is nothing for them', () => {
    expect([...clusterResources([], [], registry).keys()]).toEqual([]);
  });
});
