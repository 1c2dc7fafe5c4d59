import { expect, test } from 'vitest';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { RestoredOwners } from './restored-owners.ts';

const signal = new AbortController().signal;

function at(resourceVersion: string) {
  const deployment = aStoredDeployment();
  return { ...deployment, metadata: { ...deployment.metadata, resourceVersion } };
}

test('an owner is read once after the inventory went back in time, and must be as it is there', async () => {
  const inventory = { rewinds: 0 };
  let live: ReturnType<typeof at> | undefined = at('60');
  let reads = 0;
  const client = {
    get: async () => {
      reads += 1;
      if (live === undefined) throw new ApiError(404, { reason: 'NotFound' });
      return live;
    },
  };
  const owners = new RestoredOwners(client, inventory);
  await owners.check(at('100'), signal);
  expect(reads).toBe(0);
  inventory.rewinds = 1;
  await expect(owners.check(at('100'), signal)).rejects.toThrow('restored to an earlier state');
  live = undefined;
  await expect(owners.check(at('100'), signal)).rejects.toThrow('restored to an earlier state');
  live = at('61');
  await owners.check(at('60'), signal);
  await owners.check(at('60'), signal);
  expect(reads).toBe(3);
});
