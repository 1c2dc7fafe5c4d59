import { type Blob, BlobError, readBlobs } from '../../../../catalog/blobs/index.ts';
import {
  diffCatalogs,
  lintCatalog,
  type PackageSelection,
  pruneCatalog,
  versionsInRange,
} from '../../../../catalog/compare/index.ts';
import { validateCatalog } from '../../../../catalog/validate/index.ts';
import { TerminalError } from '../../../../core/errors.ts';
import { collected, reading } from '../../../helpers/random-catalog.ts';
import { bytesOf, type FuzzTarget, Violation } from '../../fuzz-target.ts';

const seed = `schema: olm.package
name: a
defaultChannel: stable
icon: {base64data: iVBORw0KGgo=, mediatype: image/png}
---
schema: olm.channel
package: a
name: stable
entries:
- {name: a.v1.2.0, replaces: a.v1.1.0, skips: [a.v1.1.1], skipRange: <1.2.0}
- {name: a.v1.1.1, replaces: a.v1.0.0}
- {name: a.v1.1.0, replaces: a.v1.0.0}
- name: a.v1.0.0
---
{schema: olm.bundle, package: a, name: a.v1.2.0, image: q/a:1, properties: [
  {type: olm.package, value: {packageName: a, version: 1.2.0}},
  {type: olm.package.required, value: {packageName: b, versionRange: ">=1.0.0"}},
  {type: olm.constraint, value: {all: {constraints: [{gvk: {group: g, version: v1, kind: K}}, {not: {constraints: [{cel: {rule: x}}]}}]}}}]}
---
{schema: olm.bundle, package: a, name: a.v1.1.1, image: q/a:2, properties: [{type: olm.package, value: {packageName: a, version: 1.1.1}}]}
---
{schema: olm.bundle, package: a, name: a.v1.1.0, image: q/a:3, properties: [{type: olm.package, value: {packageName: a, version: 1.1.0}}]}
---
{schema: olm.bundle, package: a, name: a.v1.0.0, image: q/a:4, properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]}
---
{schema: olm.package, name: b, defaultChannel: c}
---
{schema: olm.channel, package: b, name: c, entries: [{name: b.v1.0.0}]}
---
{schema: olm.bundle, package: b, name: b.v1.0.0, image: q/b:1, properties: [
  {type: olm.package, value: {packageName: b, version: 1.0.0}},
  {type: olm.gvk, value: {group: g, version: v1, kind: K}}]}
---
schema: olm.deprecations
package: a
entries:
- {reference: {schema: olm.bundle, name: a.v1.0.0}, message: old}
- {reference: {schema: olm.channel, name: stable}, message: old}
---
{schema: custom, package: a, name: x, value: {__proto__: {a: 1}}}
`;

const selections: readonly PackageSelection[] = [
  { channels: { which: 'default', versions: 'head' } },
  { channels: { which: 'all', versions: versionsInRange('1.0.0 || >=1.1.1') } },
];

/** Catalogs that are compared, pruned and linted: what is left of a valid one is valid. */
export const comparedCatalogs: FuzzTarget = {
  name: 'compared-catalogs',
  seeds: [seed],
  words: ['skips: [', 'replaces: ', 'skipRange: ', 'a.v1.0.0', 'a.v1.2.0', 'olm.bundle', 'any: {'],
  refusals: [BlobError, TerminalError],
  // opm's texts quote blobs as they are; programs escape what they print.
  // oxlint-disable-next-line no-control-regex -- what it looks for
  lineBreaks: /[\u0000-\u001f\u007f]/g,
  async read(input) {
    const content = bytesOf(input);
    const read = reading([...readBlobs('catalog.yaml', content)]);
    await tolerant(async () => {
      const { packages, blobs, stranded } = await diffCatalogs(read(), read());
      if (packages.length + blobs.length + stranded.length === 0) return;
      throw new Violation('a catalog differs from itself');
    });
    await tolerant(() =>
      lintCatalog(read(), { textOf: async () => await Promise.resolve(content) }),
    );
    if ((await problemOf(read())) !== undefined) return;
    for (const others of selections) await checkPruned(read, others);
  },
};

async function checkPruned(
  read: () => AsyncIterable<Blob>,
  others: PackageSelection,
): Promise<void> {
  const left = await collected(pruneCatalog(read, { packages: new Map(), others })).catch(
    (error: unknown) => {
      if (error instanceof TerminalError && error.message.startsWith('no package')) return [];
      throw error;
    },
  );
  const problem = await problemOf(reading(left)());
  if (problem === undefined) return;
  throw new Violation(`a valid catalog is pruned to one that is not: ${problem}`);
}

async function problemOf(blobs: AsyncIterable<Blob>): Promise<string | undefined> {
  try {
    await validateCatalog(blobs);
    return undefined;
  } catch (error) {
    if (error instanceof TerminalError) return error.message;
    throw error;
  }
}

async function tolerant(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
  }
}
