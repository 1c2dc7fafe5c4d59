import { expect, test } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { Definitions, type DefinitionsOptions } from './definitions.ts';

const crd = aDesiredObject({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gizmos.example.com' },
});

/**
 * Waits for a CRD that an API server establishes after that many milliseconds, or that somebody
 * deletes.
 */
async function establishedAfter(ms: number, deletedAfter = Infinity): Promise<unknown> {
  let passed = 0;
  const clock = {
    now: () => passed,
    monotonic: () => passed,
    sleep: async (pause: number) => {
      passed += pause;
    },
  };
  const live = (): InventoryEntry | undefined => {
    if (passed >= deletedAfter) return undefined;
    const conditions = passed < ms ? [] : [{ type: 'Established', status: 'True' }];
    const entry = anOwnedEntry('CustomResourceDefinition', { name: 'gizmos.example.com' });
    const apiVersion = 'apiextensions.k8s.io/v1';
    return { ...entry, object: { ...entry.object, apiVersion, status: { conditions } } };
  };
  const inventory = { get: live } as unknown as DefinitionsOptions['inventory'];
  const discovery = {} as DefinitionsOptions['discovery'];
  const definitions = new Definitions({ inventory, discovery, clock });
  return await definitions.established([crd], new AbortController().signal);
}

test('a CRD is waited for as long as a busy API server may take', async () => {
  expect(await establishedAfter(120_000)).toEqual([]);
});

test('after three minutes the next try goes on', async () => {
  await expect(establishedAfter(200_000)).rejects.toThrow(
    'CustomResourceDefinition "gizmos.example.com" is not established after 180 s',
  );
});

test('a CRD that is deleted meanwhile is not waited for', async () => {
  await expect(establishedAfter(120_000, 100)).rejects.toThrow(
    'CustomResourceDefinition "gizmos.example.com" was deleted while core waited',
  );
});
