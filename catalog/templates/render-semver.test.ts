import { expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { CatalogConfig } from '../blobs/index.ts';
import type { RenderedBundle } from '../render/index.ts';
import { renderTemplate } from './index.ts';

async function bundleOf(image: string): Promise<readonly RenderedBundle[]> {
  const version = image.slice(image.indexOf(':') + 1).replace('_', '+');
  const value = { packageName: 'a', version };
  const csv = {
    spec: {
      description: `About ${version}`,
      icon: [{ base64data: 'eA==', mediatype: 'image/png' }],
    },
  };
  return [
    {
      csv: stringifyJson(csv),
      bundle: {
        schema: 'olm.bundle',
        name: `a.v${version}`,
        package: 'a',
        image,
        properties: [{ type: 'olm.package', value }],
        relatedImages: [],
      },
    },
  ];
}

async function rendered(fields: object): Promise<CatalogConfig> {
  const text = stringifyJson({ schema: 'olm.semver', ...fields });
  return await renderTemplate(Buffer.from(text), bundleOf, 'semver');
}

function images(...versions: readonly string[]): object {
  return { bundles: versions.map((version) => ({ image: `q/a:${version}` })) };
}

test('links versions within a minor version by skips, and to the one before by replaces', async () => {
  const { channels, packages } = await rendered({ stable: images('1.0.0', '1.0.1', '1.1.0') });
  expect(channels.map(({ name, entries }) => [name, ...entries])).toEqual([
    [
      'stable-v1.0',
      { name: 'a.v1.0.0', replaces: '', skips: [], skipRange: '' },
      { name: 'a.v1.0.1', replaces: '', skips: ['a.v1.0.0'], skipRange: '' },
    ],
    ['stable-v1.1', { name: 'a.v1.1.0', replaces: 'a.v1.0.1', skips: ['a.v1.0.0'], skipRange: '' }],
  ]);
  expect(packages).toEqual([
    {
      schema: 'olm.package',
      name: 'a',
      defaultChannel: 'stable-v1.1',
      description: 'About 1.1.0',
      icon: { base64data: 'eA==', mediatype: 'image/png' },
      properties: [],
    },
  ]);
});

test('takes the most settled archetype, its highest version and the preferred kind', async () => {
  const both = { generateMajorChannels: true, generateMinorChannels: true };
  const { channels, packages } = await rendered({
    ...both,
    defaultChannelTypePreference: 'major',
    candidate: images('9.0.0'),
    fast: images('1.0.0', '2.0.0'),
  });
  expect(packages[0]?.defaultChannel).toBe('fast-v2');
  expect(channels.map(({ name }) => name)).toEqual([
    'candidate-v9',
    'candidate-v9.0',
    'fast-v1',
    'fast-v1.0',
    'fast-v2',
    'fast-v2.0',
  ]);
});

const reading = 'render: unable to read file: ';
const linking = 'render: unable to post-process bundle info: ';

test.each([
  [{ foo: 1 }, `${reading}error unmarshaling JSON: while decoding JSON: json: unknown field "foo"`],
  [{ schema: 'x' }, `${reading}readFile: input file has unknown schema, should be "olm.semver"`],
  [
    { generateMajorChannels: true, defaultChannelTypePreference: 'minor' },
    `${reading}schema attribute mismatch: DefaultChannelTypePreference set to 'minor' doesn't make sense if not generating minor-version channels`,
  ],
  [
    { defaultChannelTypePreference: 'x' },
    `${reading}unknown DefaultChannelTypePreference: "x"\nValid values are 'major' or 'minor'`,
  ],
  [{}, 'render: no bundles specified or no bundles could be rendered'],
  [
    { stable: images('1.0.0', '1.0.0_b') },
    `${linking}encountered bundle versions which differ only by build metadata, which cannot be ordered: bundle version "1.0.0+b" cannot be compared to "1.0.0"`,
  ],
  [
    { stable: images('v1') },
    `${linking}bundle "a.vv1" has invalid version "v1": No Major.Minor.Patch elements found`,
  ],
])('refuses %j', async (fields, message) => {
  await expect(rendered(fields)).rejects.toThrow(message);
});

test('refuses a field that is there twice, of which only the last one would count', async () => {
  const text = `schema: olm.semver
stable:
  bundles: [{image: 'q/a:1.0.0'}]
stable:
  bundles:
  - image: q/a:1.1.0
    image: q/a:1.2.0
`;
  await expect(renderTemplate(Buffer.from(text), bundleOf)).rejects.toThrow(
    `${reading}error converting YAML to JSON: yaml: unmarshal errors:
  line 7: key "image" already set in map
  line 5: key "stable" already set in map`,
  );
});
