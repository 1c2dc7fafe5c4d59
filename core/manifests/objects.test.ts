import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import { anObject } from '../../test/helpers/registry-bundle.ts';
import { checkObjectSize, leftOutMessage, withoutLeftOut } from './objects.ts';

test('an annotated object is left out, with its reason', () => {
  const kept = anObject('ConfigMap');
  const sample = {
    apiVersion: 'example.com/v1',
    kind: 'Role',
    metadata: { name: 'a', annotations: { 'core.rukpak.io/left-out': 'it is a sample' } },
  };
  const { objects, leftOut } = withoutLeftOut([kept, sample]);
  expect(objects).toEqual([kept]);
  const identity = { apiVersion: 'example.com/v1', kind: 'Role', name: 'a' };
  expect(leftOut).toEqual([{ ...identity, because: 'it is a sample' }]);
  expect(leftOut.map(leftOutMessage)).toEqual([
    'Role "a" of example.com/v1 is left out: it is a sample',
  ]);
});

test.each([undefined, null, 7, [], { annotations: null }, { annotations: 'x' }])(
  'odd metadata leaves nothing out: %j',
  (metadata) => {
    const odd = { ...anObject('ConfigMap'), metadata } as unknown as ReturnType<typeof anObject>;
    expect(withoutLeftOut([odd]).objects).toEqual([odd]);
  },
);

test('an object that is left out may lack anything else', () => {
  const metadata = { name: 7, namespace: null, annotations: { 'core.rukpak.io/left-out': 'why' } };
  const odd = { metadata } as unknown as ReturnType<typeof anObject>;
  const leftOut = [{ apiVersion: '', kind: '', name: '', because: 'why' }];
  expect(withoutLeftOut([odd])).toEqual({ objects: [], leftOut });
});

const most = 3 * 1024 * 1024;

function anObjectOf(data: unknown): Parameters<typeof checkObjectSize>[0] {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data };
}

/** Filled up with one more key, so that its JSON has so many bytes. */
function ofSize(bytes: number, data: unknown): ReturnType<typeof anObjectOf> {
  const rest = bytes - Buffer.byteLength(stringifyJson({ ...anObjectOf(data), rest: '' }));
  return { ...anObjectOf(data), rest: 'x'.repeat(rest) };
}

it('takes objects to the last byte of what the API server takes', { tags: ['slow'] }, () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '"', '\\', '\n', '\x01', 'é', '😀', '\ud800'),
  });
  // Not `binary`: fast-check makes a table of all characters for it, which takes it seconds.
  const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
  const data = fc.jsonValue({ maxDepth: 3, stringUnit: character });
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(text, data, fc.bigInt())), (value) => {
      expect(() => checkObjectSize(ofSize(most, value))).not.toThrow();
      expect(() => checkObjectSize(ofSize(most + 1, value))).toThrow(`has ${most + 1} bytes`);
    }),
    { numRuns: 15 },
  );
});

it.each([
  ['control characters', '\x01'.repeat(most / 6)],
  [
    'keys',
    Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`${n}-key-${'k'.repeat(45)}`, 0])),
  ],
  ['short items', Array.from({ length: most / 2 }, () => 0)],
  ['digits', Array.from({ length: 160_000 }, () => 10n ** 18n)],
  ['long numbers', Array.from({ length: 150_000 }, (_, n) => -Math.E * 1e-300 * (n + 1))],
])('finds what is too large by its %s', (_, data) => {
  const bytes = Buffer.byteLength(stringifyJson(anObjectOf(data)));
  expect(bytes).toBeGreaterThan(most);
  expect(() => checkObjectSize(anObjectOf(data))).toThrow(`Secret "a" has ${bytes} bytes`);
});
