import { expect, test } from 'vitest';
import type { CatalogDiff, PackageDiff, Stranded } from '../../../../catalog/compare/index.ts';
import { diffLines, paintChanges } from './diff-lines.ts';

const nothing = { fields: [], channels: [], bundles: [], deprecations: [], blobs: [] };

function changed(parts: Partial<PackageDiff>): CatalogDiff {
  const each: PackageDiff = { ...nothing, name: 'a', change: 'changed', ...parts };
  return { packages: [each], blobs: [], stranded: [] };
}

function lines(diff: CatalogDiff): readonly string[] {
  return [...diffLines(diff)];
}

test('no difference is said', () => {
  expect(lines({ packages: [], blobs: [], stranded: [] })).toEqual(['no difference']);
});

test('packages of one catalog alone have a line each', () => {
  const one = { name: 'x', fields: [], entries: [] };
  const gone = changed({ change: 'removed', channels: [{ ...one, change: 'removed' }] });
  expect(lines(gone)).toEqual([
    '- package a: 1 channel, 0 bundles',
    'packages: 0 added, 1 removed, 0 changed',
  ]);
});

test('fields are old and new values, items of lists, or changed where they are long', () => {
  const digest = `sha256:${'0'.repeat(12)}`;
  const fields = [
    { field: 'default channel', removed: ['stable'], added: [] },
    { field: 'icon', removed: [], added: [digest] },
    { field: 'properties', removed: ['t 1'], added: ['t 2', 't 3'] },
  ];
  expect(lines(changed({ fields }))).toEqual([
    '~ package a',
    '  default channel: stable -> none',
    '  icon changed',
    '  - properties: t 1',
    '  + properties: t 2',
    '  + properties: t 3',
    'packages: 0 added, 0 removed, 1 changed',
  ]);
});

test('channels, bundles, deprecations and other blobs are below their package', () => {
  const edge = (field: string, ...added: readonly string[]) => ({ field, removed: [], added });
  const entry = { name: 'a.v2', change: 'added', fields: [edge('replaces', 'a.v1')] } as const;
  const parts = lines(
    changed({
      channels: [
        { name: 'fast', change: 'added', fields: [edge('head', 'a.v2')], entries: [entry] },
        { name: 'stable', change: 'changed', fields: [], entries: [entry] },
      ],
      bundles: [{ name: 'a.v2', change: 'added', fields: [edge('image', 'q/a')] }],
      deprecations: [
        { name: 'olm.bundle a.v1', change: 'added', fields: [edge('message', 'old')] },
      ],
      blobs: [{ name: 'custom x', change: 'removed', fields: [] }],
    }),
  );
  expect(parts.slice(1, -1)).toEqual([
    '  + channel fast: head a.v2, 1 entry',
    '  ~ channel stable',
    '    + a.v2, replaces a.v1',
    '  + bundle a.v2',
    '  + deprecation of olm.bundle a.v1: old',
    '  - blob custom x',
  ]);
});

test('stranded bundles are grouped by the step that is gone', () => {
  const at = { package: 'a', channel: 'c', version: '', reason: 'upgrade removed' } as const;
  const last = { from: 'a.v3', to: 'a.v4' };
  const stranded: readonly Stranded[] = [
    ...['a.v1', 'a.v2', 'a.v3'].map((bundle) => ({ ...at, bundle, lastStep: last })),
    { ...at, bundle: 'a.v9', lastStep: { from: 'a.v9' } },
    { ...at, channel: 'd', bundle: 'a.v1', reason: 'channel invalid', lastStep: undefined },
    { ...at, channel: 'e', bundle: 'a.v1', reason: 'channel removed', lastStep: undefined },
  ];
  expect(lines({ packages: [], blobs: [], stranded }).slice(1)).toEqual([
    'stranded: 6 bundles without a path to the head of the channel',
    '  ! package a, channel c: a.v1 to a.v3 (3): the upgrade from a.v3 to a.v4 is gone',
    '  ! package a, channel c: a.v9: the new channel has no upgrade for a.v9',
    '  ! package a, channel d: a.v1: the new channel has no head, or several',
    '  ! package a, channel e: a.v1: channel removed',
  ]);
});

test('colours follow signs', () => {
  expect(paintChanges('  + a')).toContain('\u001b[32m');
  expect(paintChanges('  ! a')).toContain('\u001b[31m');
  expect(paintChanges('  head: a -> b')).toBe('  head: a -> b');
});
