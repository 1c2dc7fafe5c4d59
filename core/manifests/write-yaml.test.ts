import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseManifests } from './parse-manifests.ts';
import { toYaml } from './write-yaml.ts';

function readBack(objects: readonly object[]): unknown {
  return parseManifests('x', Buffer.from(toYaml(objects)));
}

const awkward = [
  'yes',
  'n',
  'On',
  'null',
  '~',
  '',
  '<<',
  '=',
  '010',
  '0o17',
  '0b1',
  '1_000',
  '1e3',
  '.5',
  '2026-01-02',
  '12:30:45',
  '.inf',
  '- a',
  'a: b',
  '#x',
  'x #y',
  '---',
  '...',
  '%a',
  '@a',
  '!x',
  '&a',
  '*a',
  '|',
  '? a',
  'a:',
  '"',
  "'",
  '\\',
  '__proto__',
  ' ',
  '\n',
  ' \n',
  '\n\n a',
  'a\n---\nb',
  'a\n...\nb',
  'a \n b\n',
  '\ta',
  'a\r\nb',
  '\u0085',
  '\u2028',
  '\ufeffa',
  '\0',
  '\u007f',
  '\ufffe',
  '{{ .x }}',
  `${'x'.repeat(200)} ${'y'.repeat(2000)}`,
];
const text = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.constantFrom(...awkward), { maxLength: 5 }).map((parts) => parts.join('')),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.double({ min: -1e15, max: 1e15, noNaN: true }).map((number) => number + 0),
    fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 90n }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map((all) => Object.fromEntries(all)),
  ),
}));

describe('toYaml', () => {
  it('writes documents that people can read, each after a separator', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'yes', b: 'two\nlines\n' } };
    expect(toYaml([object, { kind: 'B' }])).toBe(
      '---\napiVersion: v1\nkind: ConfigMap\ndata:\n  a: "yes"\n  b: |\n    two\n    lines\n---\nkind: B\n',
    );
    expect(toYaml([])).toBe('');
  });

  it('writes what parseManifests reads back as the same values', () => {
    fc.assert(
      fc.property(value, (spec) => {
        const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, spec };
        expect(readBack([object, object])).toEqual([object, object]);
      }),
      { numRuns: 2000 },
    );
  });

  it('writes what appears twice twice, without aliases', () => {
    const shared = { a: ['b'] };
    expect(toYaml([{ kind: 'X', one: shared, two: shared }])).not.toMatch(/[&*]/);
  });
});
