import { expect, test, vi } from 'vitest';
import { anOwnedCRD, anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { lostConversions } from './lost-conversions.ts';

const service = anOwnedEntry('Service', { name: 'painter-service' });
const crd = anOwnedCRD('Gizmo');
const v1 = { name: 'v1', served: true, storage: true };
const webhook = {
  strategy: 'Webhook',
  webhook: { clientConfig: { service: { namespace: 'n', name: 'painter-service' } } },
};
const [older, newest] = [
  { ...v1, storage: false },
  { ...v1, name: 'v2' },
];

interface LiveCRD {
  readonly conversion?: object;
  readonly versions?: readonly (typeof v1)[];
  readonly storedVersions?: readonly string[];
}

/** What is told where this CRD stays, and an API server has it with this conversion. */
async function told(
  remove: readonly InventoryEntry[],
  { conversion = webhook, versions = [older, newest], storedVersions = ['v2'] }: LiveCRD = {},
) {
  const spec = { group: 'example.com', versions, conversion };
  const definition = { ...crd.object, spec, status: { storedVersions } };
  const get = vi.fn(async () => definition);
  const { signal } = new AbortController();
  const found = await lostConversions(
    { orphan: new Map([[crd, 'the deletion policy is KeepCRDs']]), remove },
    { client: { get }, signal },
  );
  return { message: found.get(crd), requests: get.mock.calls.length };
}

test('a conversion webhook that goes while its CRD stays is told, with what fails and the way back', async () => {
  const { message } = await told([service]);
  expect(message).toBe(
    'CustomResourceDefinition/gizmos.example.com stays, and core deletes Service/n/painter-service of its conversion webhook: ' +
      'the API server refuses requests that convert custom resources between the stored version v2 and v1, and cannot delete Namespaces whose custom resources it must convert. ' +
      'Install the operator again, or set strategy None in spec.conversion of the CRD: a write in another version then loses the fields that this version lacks',
  );
});

test('it is needed by objects in a version that is only stored, too', async () => {
  const { message } = await told([service], { versions: [newest], storedVersions: ['v1', 'v2'] });
  expect(message).toContain('between the stored version v2 and v1, and');
});

test.each<[string, readonly InventoryEntry[], LiveCRD]>([
  ['another Service', [anOwnedEntry('Service', { name: 'other' })], {}],
  ['a Service where there is no conversion', [service], { conversion: { strategy: 'None' } }],
  ['a Service where only one version is in use', [service], { versions: [newest] }],
])('it is not told of where %s goes', async (_, remove, options) => {
  expect((await told(remove, options)).message).toBeUndefined();
});

test('it costs no request where no Service goes', async () => {
  const others = [anOwnedEntry('ConfigMap', { name: 'painter-service' })];
  expect(await told(others)).toEqual({ message: undefined, requests: 0 });
});
