import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { reading } from '../../../test/helpers/random-catalog.ts';
import { type BlobPlace, blobOfValue, readBlobs } from '../../blobs/index.ts';
import { loadDirectory } from '../../load/index.ts';
import { type Finding, lintCatalog, lintRules } from '../index.ts';

/** A catalog that no rule finds anything in. */
const clean = `
schema: olm.package
name: a
defaultChannel: stable
description: d
icon: {base64data: iVBORw0KGgo=, mediatype: image/png}
---
schema: olm.channel
package: a
name: stable
entries:
- name: a.v1.1.0
  replaces: a.v1.0.0
  skipRange: <1.1.0
- name: a.v1.0.0
---
schema: olm.bundle
package: a
name: a.v1.1.0
image: quay.io/x/a@sha256:${'1'.repeat(64)}
properties:
- type: olm.package
  value: {packageName: a, version: 1.1.0}
- type: olm.csv.metadata
  value: {displayName: a}
---
schema: olm.bundle
package: a
name: a.v1.0.0
image: quay.io/x/a@sha256:${'0'.repeat(64)}
properties:
- type: olm.package
  value: {packageName: a, version: 1.0.0}
- type: olm.csv.metadata
  value: {displayName: a}
---
schema: olm.deprecations
package: a
entries:
- reference: {schema: olm.bundle, name: a.v1.0.0}
  message: old
`;

async function lint(text: string, rules?: ReadonlySet<string>): Promise<readonly Finding[]> {
  const content = Buffer.from(text);
  const textOf = async ({ start, end }: BlobPlace) =>
    await Promise.resolve(content.subarray(start, end));
  return await lintCatalog(reading([...readBlobs('c.yaml', content)])(), { rules, textOf });
}

/** The line that has the text, from 1. */
function lineOf(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split('\n').length;
}

interface Row {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  /** What the line of the finding has, after the change. */
  readonly at: string;
  readonly message: string;
}

const version = (text: string) => `value: {packageName: a, version: ${text}}`;
const required = (type: string, value: string) =>
  `properties:\n- type: ${type}\n  value: ${value}\n`;

const rows: readonly Row[] = [
  {
    rule: 'upgrade-order',
    from: version('1.0.0'),
    to: version('1.2.0'),
    at: '  replaces: a.v1.0.0',
    message:
      'replaces a.v1.0.0, whose version 1.2.0 is higher than its own, 1.1.0: clusters that have it are downgraded',
  },
  {
    rule: 'head-version',
    from: version('1.0.0'),
    to: version('1.2.0'),
    at: 'schema: olm.channel',
    message: 'its head a.v1.1.0 is lower than a.v1.0.0, which nobody gets by default',
  },
  {
    rule: 'unreachable-head',
    from: '  skipRange: <1.1.0\n- name: a.v1.0.0\n',
    to: '  skipRange: <1.0.0\n- {name: a.v1.0.0}\n- {name: a.x, skips: [a.y]}\n- {name: a.y, skips: [a.x]}\n',
    at: '- {name: a.x',
    message: 'no upgrade leads from it to the head, a.v1.1.0',
  },
  {
    rule: 'deprecated-default-channel',
    from: '{schema: olm.bundle, name: a.v1.0.0}',
    to: '{schema: olm.channel, name: stable}',
    at: 'defaultChannel: stable',
    message: 'its default channel "stable" is deprecated: new installations get it',
  },
  {
    rule: 'deprecated-head',
    from: '{schema: olm.bundle, name: a.v1.0.0}',
    to: '{schema: olm.bundle, name: a.v1.1.0}',
    at: 'schema: olm.channel',
    message: 'its head a.v1.1.0 is deprecated, and the channel is not',
  },
  {
    rule: 'unreadable-range',
    from: 'properties:\n',
    to: required('olm.package.required', '{packageName: a, versionRange: ^1}'),
    at: '- type: olm.package.required',
    message:
      'the version range of a required package cannot be read: Could not parse Range "^1": Could not parse comparator "^" in "^1"',
  },
  {
    rule: 'unreadable-range',
    from: 'properties:\n',
    to: required('olm.package.required', '{PackageName: a, VersionRange: ^2}'),
    at: '- type: olm.package.required',
    message:
      'the version range of a required package cannot be read: Could not parse Range "^2": Could not parse comparator "^" in "^2"',
  },
  {
    rule: 'missing-dependency',
    from: 'properties:\n',
    to: required('olm.gvk.required', '{group: g, version: v1, kind: K}'),
    at: 'schema: olm.bundle',
    message: 'it requires API g/v1 K, and no bundle of the catalog meets that',
  },
  {
    rule: 'unservable',
    from: 'schema: olm.deprecations\n',
    to: 'schema: x y\n---\nschema: olm.deprecations\n',
    at: 'schema: x y',
    message: 'opm serve refuses schema name "x y"',
  },
  {
    rule: 'unservable',
    from: 'properties:\n',
    to: required('olm.csv.metadata', '{}'),
    at: 'schema: olm.bundle',
    message: 'it has 2 properties olm.csv.metadata: opm serve expects one at most',
  },
  {
    rule: 'unservable',
    from: '---\nschema: olm.deprecations',
    to: '---\nschema: x\npackage: a b\n---\nschema: olm.deprecations',
    at: 'schema: x',
    message: 'opm serve refuses package name "a b" of other schemas',
  },
  {
    rule: 'replaces-missing',
    from: '- name: a.v1.0.0\n',
    to: '- name: a.v1.0.0\n  Replaces: a.v0.9.0\n',
    at: '  Replaces',
    message:
      'replaces a.v0.9.0, which the catalog does not have: only clusters that have it already upgrade from it',
  },
  {
    rule: 'own-skip-range',
    from: '<1.1.0',
    to: '<=1.1.0',
    at: 'skipRange',
    message: 'skipRange "<=1.1.0" has its own version 1.1.0: end it with <1.1.0',
  },
  {
    rule: 'image-digest',
    from: `image: quay.io/x/a@sha256:${'0'.repeat(64)}`,
    to: 'relatedImages:\n- {name: o, image: quay.io/x/o:v1}\nimage: quay.io/x/a:v1',
    at: 'schema: olm.bundle\npackage: a\nname: a.v1.0.0',
    message: 'it has images without a digest: quay.io/x/a:v1, quay.io/x/o:v1',
  },
  {
    rule: 'never-installed',
    from: '  replaces: a.v1.0.0',
    to: '  skips: [a.v1.0.0]',
    at: 'schema: olm.package',
    message: 'OLM never installs a.v1.0.0: other entries skip it in each of its channels',
  },
  {
    rule: 'missing-icon',
    from: 'icon: {base64data: iVBORw0KGgo=, mediatype: image/png}\n',
    to: '',
    at: 'schema: olm.package',
    message: 'it has no icon: consoles show a placeholder',
  },
  {
    rule: 'icon-type',
    from: 'image/png',
    to: 'image/gif',
    at: 'icon:',
    message: 'its icon has media type "image/gif", and is image/png',
  },
  {
    rule: 'missing-description',
    from: 'description: d\n',
    to: '',
    at: 'schema: olm.package',
    message: 'it has no description',
  },
  {
    rule: 'missing-metadata',
    from: '- type: olm.csv.metadata\n  value: {displayName: a}\n',
    to: '',
    at: 'schema: olm.bundle',
    message: 'it has no olm.csv.metadata: consoles show neither its name nor its description',
  },
];

test('a catalog without doubts has no findings', async () => {
  expect(await lint(clean)).toEqual([]);
});

it.each(rows)('$rule: $message', async ({ rule, from, to, at, message }) => {
  expect(clean).toContain(from);
  const text = clean.replace(from, to);
  const found = (await lint(text, new Set([rule]))).find((each) => each.message === message);
  const level = lintRules.find(({ name }) => name === rule)?.level;
  expect(found).toMatchObject({ rule, level, file: 'c.yaml', line: lineOf(text, at) });
  // Nobody asked for it.
  const others = new Set(lintRules.map(({ name }) => name)).difference(new Set([rule]));
  expect((await lint(text, others)).filter((each) => each.rule === rule)).toEqual([]);
});

test('each rule is named once, and seen here', () => {
  const names = lintRules.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !rows.some(({ rule }) => rule === name))).toEqual([]);
});

test('findings in JSON have lines too, and blobs of no text that of the blob', async () => {
  const json = `\n{"schema": "olm.channel", "package": "a", "name": "c",\n\t"entries": [\n\t{"name": "x",\n\t"replaces": "y"}]}`;
  const rules = new Set(['replaces-missing']);
  expect(await lint(json, rules)).toMatchObject([{ line: 5, channel: 'c', bundle: 'x' }]);
  const [blob] = readBlobs('c.json', Buffer.from(json));
  const found = await lintCatalog(reading(blob === undefined ? [] : [blob])(), { rules });
  expect(found).toMatchObject([{ line: 2, file: 'c.json' }]);
});

test('a rule that does not exist is refused', async () => {
  await expect(lint(clean, new Set(['nonsense']))).rejects.toThrow(
    'there is no rule "nonsense", but upgrade-order, unreachable-head, ',
  );
});

const shared = join(import.meta.dirname, '../../../../shared/catalogs/packages');

test('real packages have no errors, and images by tag', async () => {
  const names = (await readdir(shared)).filter((name) => name !== 'slurm-operator');
  for (const name of names) {
    const dir = join(shared, name);
    const textOf = async ({ file, start, end }: BlobPlace) =>
      (await readFile(join(dir, file))).subarray(start, end);
    const findings = await lintCatalog(loadDirectory(dir), { textOf });
    expect(findings.filter(({ level }) => level === 'error')).toEqual([]);
    expect(findings.some(({ rule }) => rule === 'image-digest')).toBe(true);
    expect(findings.every((each) => each.package === name && each.line > 0)).toBe(true);
  }
});

test('a channel of 20,000 entries is checked in a moment', async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `a.v1.${index}.0`);
  const entries = names.map((name, index) => ({ name, replaces: names[index - 1] ?? 'gone' }));
  const channel = { schema: 'olm.channel', package: 'a', name: 'c' };
  const found = await lintCatalog(reading([blobOfValue({ ...channel, entries })])());
  expect(found.map(({ rule }) => rule)).toEqual(names.map(() => 'replaces-missing'));
});
