import { deepStrictEqual } from 'node:assert';
import { expect, test } from 'vitest';
import {
  aBundle,
  aCatalog,
  aNamespace,
  anInstalledBundle,
  aSubscription,
  provides,
  requiresApi,
} from '../../test/helpers/namespaces.ts';
import { type NamespaceRequest, resolveNamespace } from './index.ts';

function resolved(request: Partial<NamespaceRequest>) {
  const resolution = resolveNamespace(aNamespace(request));
  if (resolution.kind === 'failed') throw new Error(resolution.message);
  return resolution;
}

const red = aBundle('red.v1', [requiresApi('Blue')]);
const blue = aBundle('blue.v2', [provides('Blue')], { replaces: 'blue.v1' });

test('a dependency without Subscription gets one, and every bundle its properties', () => {
  const catalogs = [aCatalog('c1', [red, blue])];
  const { bundles, generated, currentCSVs, approval } = resolved({
    subscriptions: [aSubscription('red')],
    catalogs,
  });
  deepStrictEqual(generated, [
    {
      name: 'blue-stable-c1-olm',
      packageName: 'blue',
      channel: 'stable',
      catalog: { name: 'c1', namespace: 'olm' },
      startingCSV: 'blue.v2',
      approval: 'Automatic',
    },
  ]);
  deepStrictEqual([...currentCSVs], [['red', 'red.v1']]);
  deepStrictEqual(approval, 'Automatic');
  expect(bundles).toMatchObject([
    { name: 'blue.v2', replaces: 'blue.v1', image: 'registry.example/blue.v2' },
    { name: 'red.v1', replaces: '' },
  ]);
  // OLM reads what requires an API from the properties and from the dependencies of a catalog.
  deepStrictEqual(
    bundles[1]?.properties.map(({ type }) => type),
    ['olm.package', 'olm.gvk.required', 'olm.gvk.required'],
  );
});

test('what is up to date is not installed again', () => {
  const subscriptions = [
    aSubscription('red', { currentCSV: 'red.v1' }),
    aSubscription('blue', { installedCSV: 'blue.v1', currentCSV: 'blue.v1', approval: 'Manual' }),
  ];
  const { bundles, currentCSVs, approval } = resolved({
    subscriptions,
    installed: [anInstalledBundle(aBundle('blue.v1', [provides('Blue')]))],
    catalogs: [aCatalog('c1', [red, blue, aBundle('blue.v1', [provides('Blue')])])],
  });
  deepStrictEqual(
    bundles.map(({ name, replaces }) => `${name} replaces ${replaces}`),
    ['blue.v2 replaces blue.v1', 'red.v1 replaces '],
  );
  deepStrictEqual([...currentCSVs], [['blue', 'blue.v2']]);
  deepStrictEqual(approval, 'Manual');
});
