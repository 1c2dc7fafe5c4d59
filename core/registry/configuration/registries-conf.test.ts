import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseRegistriesConf, readRegistriesConf } from './registries-conf.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rukpak-registries-'));
  file = join(directory, 'registries.conf');
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

function registry(prefix: string, mirror: string): string {
  return `[[registry]]\nlocation = "${prefix}"\n[[registry.mirror]]\nlocation = "${mirror}"\n`;
}

async function writeDropIn(name: string, text: string): Promise<void> {
  await mkdir(`${file}.d`, { recursive: true });
  await writeFile(join(`${file}.d`, name), text);
}

test('later files take the place of a registry, and add others', async () => {
  await writeFile(
    file,
    `short-name-mode = ""\n${registry('a.b', 'one.x')}${registry('c.d', 'x.y')}`,
  );
  // Another spelling is the same registry.
  await writeDropIn('20.conf', registry('A.b.', 'three.x'));
  await writeDropIn('10.conf', registry('a.b', 'two.x') + registry('e.f', 'x.y'));
  await writeDropIn('30.conf.bak', 'not read');
  const { registries, ignored } = readRegistriesConf(file);
  expect(registries.map(({ prefix, mirrors }) => [prefix, mirrors[0]?.location])).toEqual([
    ['a.b', 'three.x'],
    ['c.d', 'x.y'],
    ['e.f', 'x.y'],
  ]);
  expect(ignored).toEqual([
    `${file}: short-name-mode has no effect: names without a registry are those of docker.io`,
  ]);
});

test('what cannot be read is named by its file', async () => {
  const begin = 'cannot read the registries configuration ';
  expect(() => readRegistriesConf(file)).toThrow(`${begin}${file}: ENOENT`);
  await writeFile(file, '');
  await writeDropIn('10.conf', 'x');
  expect(() => readRegistriesConf(file)).toThrow(`${begin}${file}.d/10.conf: line 1, column 1: `);
});

describe('a registries.conf', () => {
  test('names registries with their mirrors', () => {
    const { registries, ignored } = parseRegistriesConf(`
      unqualified-search-registries = ["registry.access.example", "docker.io"]
      short-name-mode = ""
      [aliases]
        "fedora" = "registry.fedoraproject.org/fedora"

      [[registry]]
        prefix = ""
        location = "quay.io/org/"
        mirror-by-digest-only = true
        [[registry.mirror]]
          location = "mirror.example:5000/org"
          insecure = true
        [[registry.mirror]]
          location = "other.example"

      [[registry]]
        prefix = "*.example.com"
        blocked = true

      [[registry]]
        prefix = "docker.io/library"
        location = "hub.example/library"
        insecure = true
        [[registry.mirror]]
          location = "localhost/library"
          pull-from-mirror = "tag-only"
    `);
    const usual = { insecure: false, blocked: false, mirrorByDigestOnly: false, mirrors: [] };
    expect(registries).toEqual([
      {
        ...usual,
        prefix: 'quay.io/org',
        location: undefined,
        mirrorByDigestOnly: true,
        mirrors: [
          { location: 'mirror.example:5000/org', insecure: true, pullFrom: 'all' },
          { location: 'other.example', insecure: false, pullFrom: 'all' },
        ],
      },
      { ...usual, prefix: '*.example.com', location: undefined, blocked: true },
      {
        ...usual,
        prefix: 'docker.io/library',
        location: 'hub.example/library',
        insecure: true,
        mirrors: [{ location: 'localhost/library', insecure: false, pullFrom: 'tag-only' }],
      },
    ]);
    const docker = 'has no effect: names without a registry are those of docker.io';
    expect(ignored).toEqual([
      `unqualified-search-registries ${docker}`,
      `short-name-mode ${docker}`,
      `aliases ${docker}`,
    ]);
  });

  test('may be empty', () => {
    expect(parseRegistriesConf('# nothing\n')).toEqual({ registries: [], ignored: [] });
  });

  test.each([
    ['[[registry]\n', /^line 1, column \d+: Invalid TOML document: /],
    ['[registries.search]\nregistries = ["a"]', 'registries: version 1 of the format is not supp'],
    ['[[registry]]\nblocked = true', 'registry[0]: it needs a location or a prefix'],
    ['[[registry]]\nprefix = "a.b/c"', 'registry[0].location: a prefix without a wildcard needs'],
    ['[[registry]]\nlocation = "https://a.b"', 'registry[0].location: it must not begin with a s'],
    ['[[registry]]\nlocation = "mirror/x"', 'registry[0].location: it must begin with a host that'],
    ['[[registry]]\nlocation = "a.b:65536/x"', 'registry[0].location: "a.b:65536" is no valid'],
    ['[[registry]]\nlocation = "*.a.b"', 'registry[0].location: it is no location'],
    ['[[registry]]\nprefix = "a.*.b"\nlocation = "a.b"', 'registry[0].prefix: a wildcard is only'],
    ['[[registry]]\nlocation = "a.b"\ninsecure = "yes"', 'registry[0].insecure: Invalid input: e'],
    [
      '[[registry]]\nlocation = "a.b"\npull-from-mirror = "all"',
      'registry[0].pull-from-mirror: it belongs in a [[registry.mirror]]',
    ],
    [
      '[[registry]]\nlocation = "a.b"\n[[registry]]\nlocation = "c.d"\n[[registry.mirror]]\ninsecure = true',
      'registry[1].mirror[0].location: ',
    ],
    [
      '[[registry]]\nlocation = "a.b"\n[[registry.mirror]]\nlocation = "c.d"\npull-from-mirror = "x"',
      'registry[0].mirror[0].pull-from-mirror: ',
    ],
    [
      '[[registry]]\nlocation = "a.b"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "c.d"\npull-from-mirror = "all"',
      'registry[0].mirror[0].pull-from-mirror: it cannot be set together with mirror-by-digest-only',
    ],
  ])('%j is refused by line or field', (text, message) => {
    expect(() => parseRegistriesConf(text)).toThrow(message);
  });
});
