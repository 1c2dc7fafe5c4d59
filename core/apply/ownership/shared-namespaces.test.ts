import { expect, test } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { endNamespaces, otherUsers, useNamespaces } from './shared-namespaces.ts';

const [red, blue] = ['red', 'blue'].map((name) =>
  aDesiredObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
) as [ReturnType<typeof aDesiredObject>, ReturnType<typeof aDesiredObject>];

test('a namespace is news to a deployment once, and again after it was left out', () => {
  const owners = new OwnerStates(new ManualClock());
  expect(useNamespaces(owners.of('one'), [red, blue])).toEqual([red, blue]);
  expect(useNamespaces(owners.of('one'), [red])).toEqual([]);
  expect(useNamespaces(owners.of('one'), [red, blue])).toEqual([blue]);
});

test('it is kept for those that go on using it, and not for one that goes itself', () => {
  const owners = new OwnerStates(new ManualClock());
  useNamespaces(owners.of('one'), [red]);
  useNamespaces(owners.of('two'), [red]);
  expect(otherUsers(owners, 'one', red.id)).toEqual(['two']);
  endNamespaces(owners.of('two'), [blue]);
  expect(otherUsers(owners, 'one', red.id)).toEqual([]);
  expect([...owners.of('two').namespaces.keys()]).toEqual([red.id, blue.id]);
  owners.forget('two');
  expect(owners.of('two').namespaces.size).toBe(0);
});
