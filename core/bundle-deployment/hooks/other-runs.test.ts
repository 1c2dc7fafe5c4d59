import { beforeEach, describe, expect, test } from 'vitest';
import { aBundleOf, nameOf, v2 } from '../../../test/helpers/bundle-deployment-fixture.ts';
import {
  aHook,
  begin,
  HookedDeployment,
  hookStates,
} from '../../../test/helpers/hooked-deployment.ts';

const { running } = hookStates;
const migrate = aHook('migrate', 'pre-upgrade');
const other = {
  hook: `pre-upgrade hook Job/n/migrate-1 of Bundle "${nameOf(v2)}"`,
  since: '2026-01-01T00:00:00Z',
};
const behind = { state: 'behind', other } as const;

let hooked: HookedDeployment;

beforeEach(async () => {
  hooked = new HookedDeployment(migrate);
  await hooked.settle();
  hooked.fixture.have(aBundleOf(v2));
  hooked.taken();
});

function upgrade(): void {
  hooked.fixture.changeSpec({ template: v2 });
}

const conditions = () => hooked.fixture.conditions.join('\n');

describe('a hook of an upgrade', () => {
  const waiting =
    `waiting for ${other.hook}, running since 2026-01-01T00:00:00Z, ` +
    'before pre-upgrade hook Job/n/migrate starts (time limit 300 s). Core does not end it: if it hangs, delete it';

  test('waits for the one of an earlier revision, and says for which', async () => {
    hooked.hooksDo(behind, behind);
    upgrade();
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(`Installed False WaitingForHook: ${waiting}`);
    expect(hooked.fixture.conditions).toContain(`Progressing False WaitingForHook: ${waiting}`);
    expect(hooked.fixture.wakeAfter).toBe(60_000);
    hooked.fixture.clock.advance(299_000);
    await hooked.settle();
    expect(hooked.fixture.conditions).toContain(`Installed False WaitingForHook: ${waiting}`);
    expect(hooked.fixture.wakeAfter).toBe(1_000);
    await hooked.settle();
    expect(hooked.fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('fails where that one does not end in its time, and has all of it in its next try', async () => {
    hooked.hooksDo(behind, behind, behind, running, running);
    upgrade();
    await hooked.settle();
    hooked.fixture.clock.advance(300_000);
    expect(await hooked.settle()).toEqual({ requeueAfter: 10_000 });
    expect(conditions()).toContain(
      `Installed False UpgradeFailed: pre-upgrade hook Job/n/migrate has failed: it could not start: ${other.hook}, ` +
        'running since 2026-01-01T00:00:00Z, did not end within 300 s. Core does not end it: if it hangs, delete it. ' +
        'Core retries it at 2026-01-01T00:05:10.000Z',
    );
    expect(hooked.fixture.applier.removeHook).not.toHaveBeenCalled();
    hooked.fixture.clock.advance(10_000);
    await hooked.settle();
    expect(conditions()).toContain(waiting);
    hooked.fixture.clock.advance(200_000);
    hooked.fixture.applier.runHook.mockResolvedValue({ ...running, since: '2026-01-01T00:08:30Z' });
    await hooked.settle();
    expect(hooked.fixture.wakeAfter).toBe(300_000);
  });

  test('has the name of its Bundle', async () => {
    upgrade();
    await hooked.settle();
    expect(hooked.fixture.applier.runHook).toHaveBeenCalledWith(
      expect.objectContaining({ run: `pre-upgrade ${begin}`, bundle: nameOf(v2) }),
    );
  });
});
