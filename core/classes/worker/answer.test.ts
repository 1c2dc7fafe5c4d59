import { expect, test } from 'vitest';
import { defaultLimits } from '../../content/index.ts';
import { Answer } from './answer.ts';
import type { FromWorker } from './protocol/messages.ts';

const noBytes = new Uint8Array();

function add(message: FromWorker, bytes: number, count: number): () => void {
  const answer = new Answer({ callee: 'class "acme"', limits: defaultLimits });
  return () => {
    for (let i = 0; i < count; i += 1) answer.add({ message, body: noBytes, bytes });
  };
}

const table = { paths: [], sizes: [], directories: [] };

test.each<[string, FromWorker]>([
  ['nothing new', { type: 'unchanged' }],
  ['a source', { type: 'resolved', source: { type: 'image' } }],
  ['inputs', { type: 'inputs', references: [] }],
  ['what it is', { type: 'description', handlers: [], uses: [] }],
  ['no files', { type: 'files', files: table }],
  ['no objects', { type: 'objects', objects: [] }],
])('whoever says %s again and again does not keep us busy', (_, message) => {
  expect(add(message, 20, 100)).not.toThrow();
  expect(add(message, 20, 100_000)).toThrow('it has too many messages');
});

test('what nobody counts otherwise is bounded by its size', () => {
  const inputs: FromWorker = { type: 'inputs', references: [] };
  expect(add(inputs, 5 * 1024 * 1024, 1)).not.toThrow();
  expect(add(inputs, 5 * 1024 * 1024, 1_000)).toThrow('it is too large');
});

test('files whose content does not come take no room', () => {
  const answer = new Answer({ callee: 'class "acme"', limits: defaultLimits });
  const large = { paths: ['a'], sizes: [2 ** 32], directories: [] };
  answer.add({ message: { type: 'files', files: large }, body: noBytes, bytes: 20 });
  expect(() => answer.files()).toThrow('its files are too large');
});

test('a process that sends no result has not said that it is empty', () => {
  const answer = new Answer({ callee: 'class "acme"', limits: defaultLimits });
  expect(() => answer.objects()).toThrow('the handler returned no objects');
  expect(() => answer.references()).toThrow('the handler returned no inputs');
  answer.add({ message: { type: 'objects', objects: [] }, body: noBytes, bytes: 20 });
  answer.add({ message: { type: 'inputs', references: [] }, body: noBytes, bytes: 20 });
  expect(answer.objects()).toEqual([]);
  expect(answer.references()).toEqual([]);
});
