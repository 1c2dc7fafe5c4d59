import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { checkRestored, OutdatedOwnerError } from './outdated-owner.ts';
import { OwnerStates } from './owner-states.ts';

const { signal } = new AbortController();

function at(resourceVersion: string, paused = false) {
  const { metadata, spec, ...rest } = aStoredDeployment();
  return { ...rest, metadata: { ...metadata, resourceVersion }, spec: { ...spec, paused } };
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
  const context = { client, inventory, owners: new OwnerStates(new ManualClock()) };
  await checkRestored(at('100'), context, signal);
  expect(reads).toBe(0);
  inventory.rewinds = 1;
  await expect(checkRestored(at('100'), context, signal)).rejects.toThrow(OutdatedOwnerError);
  live = undefined;
  await expect(checkRestored(at('100'), context, signal)).rejects.toThrow(OutdatedOwnerError);
  // Written since by core, which took it for the one that it remembers.
  live = at('120', true);
  await expect(checkRestored(at('100'), context, signal)).rejects.toThrow(OutdatedOwnerError);
  live = at('61');
  await checkRestored(at('60'), context, signal);
  await checkRestored(at('60'), context, signal);
  expect(reads).toBe(4);
});
