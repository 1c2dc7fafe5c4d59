import { expect, test } from 'vitest';
import { anObject } from '../../test/helpers/registry-bundle.ts';
import { withoutLeftOut } from './left-out.ts';

test('an annotated object is left out, with its reason', () => {
  const kept = anObject('ConfigMap');
  const sample = {
    apiVersion: 'example.com/v1',
    kind: 'Role',
    metadata: { name: 'a', annotations: { 'core.rukpak.io/left-out': 'it is a sample' } },
  };
  expect(withoutLeftOut([kept, sample])).toEqual({
    objects: [kept],
    leftOut: ['Role "a" of example.com/v1 is left out: it is a sample'],
  });
});

test.each([undefined, null, 7, [], { annotations: null }, { annotations: 'x' }])(
  'odd metadata leaves nothing out: %j',
  (metadata) => {
    const odd = { ...anObject('ConfigMap'), metadata } as unknown as ReturnType<typeof anObject>;
    expect(withoutLeftOut([odd]).objects).toEqual([odd]);
  },
);
