import { describe, expect, test } from 'vitest';
import { TerminalError } from '../../errors.ts';
import { parseImageReference } from '../reference.ts';
import { pullPlaces, referenceText } from './pull-places.ts';
import { parseRegistriesConf } from './registries-conf.ts';

const digest = `sha256:${'a'.repeat(64)}`;

function placesOf(image: string, conf: string): string[] {
  const { places } = pullPlaces(parseImageReference(image), parseRegistriesConf(conf));
  return places.map(
    ({ reference, insecure }) => `${referenceText(reference)}${insecure ? ' insecure' : ''}`,
  );
}

const mirrored = `
  [[registry]]
  location = "quay.io/org"
  [[registry.mirror]]
  location = "one.example:5000/mirrored"
  insecure = true
  [[registry.mirror]]
  location = "two.example"
`;

describe('an image is looked for', () => {
  test('at the mirrors in order, then where it is', () => {
    expect(placesOf('quay.io/org/team/app:v1', mirrored)).toEqual([
      'one.example:5000/mirrored/team/app:v1 insecure',
      'two.example/team/app:v1',
      'quay.io/org/team/app:v1',
    ]);
    expect(placesOf(`quay.io/org:v1@${digest}`, mirrored)).toHaveLength(3);
  });

  test.each(['quay.io/organization/app:v1', 'quay.io/other:v1', 'xquay.io/org/app:v1'])(
    'where it is, for %s of no rule',
    (image) => {
      expect(placesOf(image, mirrored)).toEqual([image]);
    },
  );

  test('by the longest prefix, and the first of two', () => {
    const rule = (prefix: string, location: string) =>
      `[[registry]]\nprefix = "${prefix}"\nlocation = "${location}"\n`;
    const conf =
      rule('docker.io', 'hub.example') +
      rule('docker.io/library/nginx', 'nginx.example/own') +
      rule('docker.io/library/nginx', 'never.example') +
      rule('docker.io/library', 'library.example');
    expect(placesOf('nginx', conf)).toEqual(['nginx.example/own:latest']);
    expect(placesOf('redis:7', conf)).toEqual(['library.example/redis:7']);
    expect(placesOf('org/app:1', conf)).toEqual(['hub.example/org/app:1']);
  });

  test('by the end of a host', () => {
    const conf =
      '[[registry]]\nprefix = "*.example.com"\n[[registry.mirror]]\nlocation = "m.example/all"';
    expect(placesOf('a.b.example.com/x/app:1', conf)).toEqual([
      'm.example/all/x/app:1',
      'a.b.example.com/x/app:1',
    ]);
    expect(placesOf('example.com/app:1', conf)).toEqual(['example.com/app:1']);
    expect(placesOf('evil.io/a.example.com/app:1', conf)).toHaveLength(1);
    expect(placesOf('a.example.community/app:1', conf)).toHaveLength(1);
  });

  test.each([
    ['mirror-by-digest-only = true', '', ['quay.io/app:1'], ['m.example/app', 'quay.io/app']],
    ['', 'pull-from-mirror = "digest-only"', ['quay.io/app:1'], ['m.example/app', 'quay.io/app']],
    ['', 'pull-from-mirror = "tag-only"', ['m.example/app:1', 'quay.io/app:1'], ['quay.io/app']],
  ])('by tag or digest alone where %j or %j says so', (...row) => {
    const [own, mirror, byTag, byDigest] = row;
    const conf = `[[registry]]\nlocation = "quay.io"\n${own}\n[[registry.mirror]]\nlocation = "m.example"\n${mirror}`;
    expect(placesOf('quay.io/app:1', conf)).toEqual(byTag);
    expect(placesOf(`quay.io/app@${digest}`, conf)).toEqual(
      byDigest.map((name) => `${name}@${digest}`),
    );
  });
});

describe('a blocked registry', () => {
  const blocked = '[[registry]]\nlocation = "quay.io"\nblocked = true\n';

  test('is an error that no retry mends', () => {
    expect(() => placesOf('quay.io/app:1', blocked)).toThrow(
      new TerminalError(
        'error fetching image descriptor: registry quay.io is blocked by the registries configuration (--registries-conf)',
      ),
    );
  });

  test('may have mirrors', () => {
    const conf = `${blocked}[[registry.mirror]]\nlocation = "m.example"\n`;
    expect(placesOf('quay.io/app:1', conf)).toEqual(['m.example/app:1']);
    const byDigest = `${conf}pull-from-mirror = "digest-only"\n`;
    expect(placesOf(`quay.io/app@${digest}`, byDigest)).toEqual([`m.example/app@${digest}`]);
    expect(() => placesOf('quay.io/app:1', byDigest)).toThrow(
      /\(--registries-conf\), and none of its mirrors may be asked for this$/,
    );
  });

  test('is no mirror of another', () => {
    const conf = `${blocked}[[registry]]\nlocation = "a.example"\n[[registry.mirror]]\nlocation = "quay.io/a"\n`;
    expect(placesOf('a.example/app:1', conf)).toEqual(['a.example/app:1']);
  });
});

test('a location that makes no reference of an image is named', () => {
  const conf = '[[registry]]\nprefix = "quay.io"\nlocation = "m.example/UPPER"';
  expect(() => placesOf('quay.io/app:1', conf)).toThrow(
    'the registries configuration (--registries-conf) makes "m.example/UPPER/app:1" of "quay.io/app:1": error parsing image reference: ',
  );
});

describe('another spelling of a registry', () => {
  const spelled = (location: string, more = '') =>
    `[[registry]]\nlocation = "${location}"\n${more}`;
  const blocked = (location: string) => spelled(location, 'blocked = true\n');

  test.each([
    ['registry.corp', 'Registry.corp/app:1'],
    ['registry.corp', 'registry.corp:443/app:1'],
    ['registry.corp/team', 'REGISTRY.corp:443/team/app:1'],
    ['registry.corp:443', 'registry.corp/app:1'],
    ['Registry.Corp:443/team', 'registry.corp/team/app:1'],
    ['registry.corp.', 'registry.corp/app:1'],
    ['registry.corp:80', 'registry.corp/app:1'],
    ['10.0.0.5:5000', '10.5:05000/app:1'],
    ['[2001:db8::1]:5000', '[2001:DB8:0::1]:5000/app:1'],
    ['docker.io', 'registry-1.docker.io/library/nginx'],
    ['docker.io/library', 'registry.hub.docker.com/nginx'],
    ['registry-1.docker.io', 'nginx'],
    ['index.docker.io/library/nginx', 'nginx'],
  ])('does not escape a block of %s: %s', (location, image) => {
    expect(() => placesOf(image, blocked(location))).toThrow('is blocked by the registries conf');
  });

  test.each([
    ['registry.corp:443', 'registry.corp:5000/app:1'],
    ['registry.corp:5000', 'registry.corp/app:1'],
    ['registry.corp/team', 'registry.corp/teams/app:1'],
  ])('is not the registry of another port or path: %s, %s', (location, image) => {
    expect(placesOf(image, blocked(location))).toEqual([image]);
  });

  test('does not escape one at the end of a host', () => {
    const conf = '[[registry]]\nprefix = "*.Corp"\nblocked = true\n';
    expect(() => placesOf('Registry.CORP:443/app:1', conf)).toThrow('is blocked');
  });

  test('has the same mirrors, and is asked by the name that users wrote', () => {
    const conf = spelled('Registry.corp:443/a', '[[registry.mirror]]\nlocation = "m.example"\n');
    expect(placesOf('registry.Corp/a/b:1', conf)).toEqual(['m.example/b:1', 'registry.Corp/a/b:1']);
    const hub = spelled('docker.io', '[[registry.mirror]]\nlocation = "m.example"\n');
    expect(placesOf('registry-1.docker.io/nginx:1', hub)).toEqual([
      'm.example/library/nginx:1',
      'registry-1.docker.io/nginx:1',
    ]);
  });

  test('of a mirror does not escape its block', () => {
    const mirror = '[[registry.mirror]]\nlocation = "Quay.io:443/a"\n';
    const conf = blocked('quay.io') + spelled('a.example', mirror);
    expect(placesOf('a.example/app:1', conf)).toEqual(['a.example/app:1']);
  });
});
