import { expect, test } from 'vitest';
import type { Provisioner } from '../contracts/provisioner.ts';
import { classesWith } from './class-index.ts';

const both: Provisioner = {
  className: 'both',
  bundle: async (files) => files,
  deployment: async () => [],
};
const contentOnly: Provisioner = { className: 'content', bundle: async (files) => files };
const objectsOnly: Provisioner = { className: 'objects', deployment: async () => [] };

test('a class is found by name, for the kinds that it handles', () => {
  const all = [both, contentOnly, objectsOnly];
  expect([...classesWith(all, 'bundle')]).toEqual([
    ['both', both],
    ['content', contentOnly],
  ]);
  expect([...classesWith(all, 'deployment')]).toEqual([
    ['both', both],
    ['objects', objectsOnly],
  ]);
});

test('two classes of one name are refused, even where they handle different kinds', () => {
  const namesake = { ...objectsOnly, className: 'content' };
  expect(() => classesWith([contentOnly, namesake], 'bundle')).toThrow(
    'two provisioners have the class "content"',
  );
});
