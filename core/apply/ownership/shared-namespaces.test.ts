import { expect, test } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { SharedNamespaces } from './shared-namespaces.ts';

const [red, blue] = ['red', 'blue'].map((name) =>
  aDesiredObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
) as [ReturnType<typeof aDesiredObject>, ReturnType<typeof aDesiredObject>];

test('a namespace is news to a deployment once, and again after it was left out', () => {
  const shared = new SharedNamespaces();
  expect(shared.use('one', [red, blue])).toEqual([red, blue]);
  expect(shared.use('one', [red])).toEqual([]);
  expect(shared.use('one', [red, blue])).toEqual([blue]);
});

test('it is kept for those that go on using it, and not for one that goes itself', () => {
  const shared = new SharedNamespaces();
  shared.use('one', [red]);
  shared.use('two', [red]);
  expect(shared.usersBeside('one', red.id)).toEqual(['two']);
  shared.end('two', [blue]);
  expect(shared.usersBeside('one', red.id)).toEqual([]);
  expect(shared.of('two').map(({ id }) => id)).toEqual([red.id, blue.id]);
  shared.forget('two');
  expect(shared.of('two')).toEqual([]);
});
