import { expect, test } from 'vitest';
import { anObject, aTree } from '../../../test/helpers/registry-bundle.ts';
import { offlineObjects } from './class-objects.ts';

test('objects that a third party’s class leaves out are not rendered', async () => {
  const kept = anObject('ConfigMap');
  const annotations = { 'core.rukpak.io/left-out': 'it is a sample' };
  const sample = { ...anObject('Secret'), metadata: { name: 'a', annotations } };
  const acme = { className: 'acme', deployment: async () => [kept, sample] };
  expect(await offlineObjects(aTree({}), acme)).toEqual([kept]);
});
