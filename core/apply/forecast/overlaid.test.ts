import { expect, test } from 'vitest';
import { overlaid } from './overlaid.ts';

test('what is wanted lies over what is there', () => {
  const live = {
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', uid: 'u' },
    spec: { kept: 1, list: [1, 2], deep: { a: 1, b: 2 } },
  };
  const desired = {
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a' },
    spec: { list: [3], deep: { b: 3 }, made: true },
  };
  expect(overlaid(live, desired)).toEqual({
    ...live,
    spec: { kept: 1, list: [3], deep: { a: 1, b: 3 }, made: true },
  });
});
