import { deepStrictEqual } from 'node:assert';
import { expect, test } from 'vitest';
import {
  aBundle,
  aCatalog,
  aNamespace,
  anInstalledBundle,
  aSubscription,
  provides,
  requiresPackage,
} from '../../test/helpers/namespaces.ts';
import { type NamespaceRequest, resolveNamespace } from './index.ts';

function explanation(request: Partial<NamespaceRequest>) {
  const resolution = resolveNamespace(aNamespace(request));
  if (resolution.kind === 'resolved') throw new Error('It is resolved.');
  return resolution.explanation;
}

test('what lacks a version: the chain to it, the versions that there are, and what would help', () => {
  const blues = Array.from({ length: 12 }, (_, at) =>
    aBundle(`blue.v${at}`, [], at === 0 ? {} : { replaces: `blue.v${at - 1}` }),
  );
  const { asked, chain, considered, suggestions } = explanation({
    subscriptions: [aSubscription('red')],
    catalogs: [
      aCatalog('c1', [aBundle('red.v1', [requiresPackage('blue', '>=20.0.0')]), ...blues]),
    ],
  });
  deepStrictEqual(asked, 'namespace "team" with Subscription "red"');
  deepStrictEqual(chain, [
    'Subscription "red" asks for package "red" in channel "stable" of catalog "olm/c1".',
    'Subscription red requires c1/olm/stable/red.v1.',
    'Bundle red.v1 requires an operator with package: blue and with version in range: >=20.0.0, and no bundle of any catalog or of the namespace is one.',
  ]);
  expect(considered).toMatchObject([
    {
      reason:
        'bundle red.v1 requires an operator with package: blue and with version in range: >=20.0.0',
      bundles: [{ name: 'red.v1' }],
      more: 0,
    },
    {
      reason: 'not an operator with package: blue and with version in range: >=20.0.0',
      more: 3,
    },
  ]);
  deepStrictEqual(considered[1]?.bundles.length, 9);
  deepStrictEqual(considered[1]?.bundles[0], {
    name: 'blue.v11',
    version: '11.0.0',
    catalog: 'c1',
  });
  deepStrictEqual(suggestions, [
    'Add a catalog that has an operator with package: blue and with version in range: >=20.0.0.',
  ]);
});

test('what a Subscription names and the catalog lacks: where it is', () => {
  const catalogs = [aCatalog('c1', [aBundle('blue.v1')]), aCatalog('c2', [aBundle('red.v1')])];
  const suggestionsFor = (subscription: ReturnType<typeof aSubscription>) =>
    explanation({ subscriptions: [subscription], catalogs }).suggestions;
  deepStrictEqual(suggestionsFor(aSubscription('red')), [
    'Name a catalog that has package "red" in Subscription "red": "olm/c2".',
  ]);
  deepStrictEqual(suggestionsFor(aSubscription('green')), [
    'Add a catalog that has package "green", or correct Subscription "green".',
  ]);
  deepStrictEqual(suggestionsFor(aSubscription('blue', { channel: 'beta' })), [
    'Name a channel of package "blue" in Subscription "blue": "stable".',
  ]);
  deepStrictEqual(suggestionsFor(aSubscription('blue', { startingCSV: 'zz' })), [
    'Remove startingCSV "zz" from Subscription "blue".',
  ]);
});

test('who clashes: all but one of the Subscriptions, or an installed bundle without one', () => {
  const blue = [provides('Blue')];
  deepStrictEqual(
    explanation({
      subscriptions: [aSubscription('b2'), aSubscription('blue')],
      catalogs: [aCatalog('c1', [aBundle('blue.v1', blue), aBundle('b2.v1', blue)])],
    }).suggestions,
    ['Delete all but one of the Subscriptions "b2", "blue".'],
  );
  const { suggestions, considered } = explanation({
    subscriptions: [aSubscription('red')],
    installed: [anInstalledBundle(aBundle('red.v0'))],
    catalogs: [aCatalog('c1', [aBundle('red.v1')])],
  });
  deepStrictEqual(suggestions, [
    'Delete ClusterServiceVersion "red.v0", which no Subscription owns.',
  ]);
  deepStrictEqual(
    considered[0]?.reason,
    '@existing/team//red.v0 and c1/olm/stable/red.v1 originate from package red',
  );
});
