import { expect, test } from 'vitest';
import type { CatalogConfig } from './blob.ts';
import { writeJson, writeYaml } from './write-config.ts';

const properties = [{ type: 'olm.package', value: { version: '1.0.0', packageName: 'a' } }];
const config: CatalogConfig = {
  packages: [
    { schema: 'olm.package', name: 'b', defaultChannel: '', description: '', properties: [] },
    { schema: 'olm.package', name: 'a', defaultChannel: 's', description: '<x>', properties: [] },
  ],
  channels: [
    {
      schema: 'olm.channel',
      name: 's',
      package: 'a',
      entries: [{ name: 'a.v1', replaces: '', skips: ['a.v0'], skipRange: '' }],
      properties: [],
    },
  ],
  bundles: [
    { schema: 'olm.bundle', name: 'a.v1', package: 'a', image: '', properties, relatedImages: [] },
  ],
  deprecations: [
    {
      schema: 'olm.deprecations',
      package: 'a',
      entries: [{ reference: { schema: 'olm.package', name: '' }, message: 'm' }],
    },
  ],
  others: [
    { schema: 'x', package: '', name: '', value: { schema: 'x', n: 12345678901234567890n } },
    { schema: 'y', package: 'a', name: '', value: { schema: 'y', package: 'a' } },
  ],
};

/** The text of each blob. */
function jsonOf(written: CatalogConfig): readonly string[] {
  return [...writeJson(written)].join('').split(/(?<=^}\n)/m);
}

function yamlOf(written: CatalogConfig): readonly string[] {
  return [...writeYaml(written)].join('').split(/^(?=---$)/m);
}

test('JSON has the fields of Go’s structs, and an indent of four', () => {
  const [first, channel, bundle, , , , last] = jsonOf(config);
  expect(first).toBe(
    '{\n    "schema": "olm.package",\n    "name": "a",\n    "defaultChannel": "s",\n    "description": "<x>"\n}\n',
  );
  expect(channel).toContain('            "skips": [\n                "a.v0"\n            ]\n');
  expect(bundle).toContain('"value": {\n                "packageName": "a",\n');
  expect(last).toBe('{\n    "n": 12345678901234567000,\n    "schema": "x"\n}\n');
});

test('blobs are ordered by package, and in each by schema', () => {
  const schemas = jsonOf(config).map((text) => /"schema": "(.*?)"/.exec(text)?.[1]);
  expect(schemas).toEqual([
    'olm.package',
    'olm.channel',
    'olm.bundle',
    'y',
    'olm.deprecations',
    'olm.package',
    'x',
  ]);
});

test('a property keeps the text that it has', () => {
  const json = '{"b":"\\u003c","a":1.0,"e":{},"l":[]}';
  const property = { type: 'x', value: {}, json };
  const bundles = config.bundles.map((each) => ({ ...each, properties: [property] }));
  const [, , bundle] = jsonOf({ ...config, bundles });
  expect(bundle).toContain(
    '"value": {\n                "b": "\\u003c",\n                "a": 1.0,\n                "e": {},\n                "l": []\n            }\n',
  );
});

test('YAML has the keys by name', () => {
  expect(yamlOf(config)[1]).toBe(
    '---\nentries:\n- name: a.v1\n  skips:\n  - a.v0\nname: s\npackage: a\nschema: olm.channel\n',
  );
});

test.each([
  ['numbers as keys', { 10: 'a', 9: 'b', x: 1 }, '"10": "a",\n    "9": "b",\n    "x": 1'],
  ['zero with a sign', { a: -0 }, '"a": -0'],
  ['half a surrogate pair', { a: 'x\ud800' }, '"a": "x\ufffd"'],
  ['line separators', { a: '\u2028' }, '"a": "\\u2028"'],
  ['a text like an escape', { b: '\\ud800', a: [] }, '"a": [],\n    "b": "\\\\ud800"'],
  ['__proto__', JSON.parse('{"b": {}, "__proto__": 1}'), '"__proto__": 1,\n    "b": {}'],
  [
    'characters beyond 16 bits',
    { '\u{1f389}': 1, '\uffee': 2 },
    '"\uffee": 2,\n    "\u{1f389}": 1',
  ],
])('JSON has %s as Go writes them', (_case, value, text) => {
  const other = { schema: 'x', package: '', name: '', value };
  expect(jsonOf({ ...config, others: [other] }).at(-1)).toBe(`{\n    ${text}\n}\n`);
});

test('a list that is empty is not the same as none', () => {
  const [channel, deprecations] = [config.channels[0]!, config.deprecations[0]!];
  const channels = [true, false].map((hasEmptyEntries) => ({
    ...channel,
    entries: [],
    hasEmptyEntries,
  }));
  const none = { packages: [], bundles: [], others: [] };
  const written = yamlOf({ ...none, channels, deprecations: [{ ...deprecations, entries: [] }] });
  expect(written).toEqual([
    '---\nentries: []\nname: s\npackage: a\nschema: olm.channel\n',
    '---\nentries: null\nname: s\npackage: a\nschema: olm.channel\n',
    '---\nentries: null\npackage: a\nschema: olm.deprecations\n',
  ]);
});
