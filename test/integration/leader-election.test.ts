import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { LeaderElector, leaderRunnable, leaseResource } from '../../core/platform/runtime/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { aTestNamespace } from '../helpers/test-namespace.ts';

const { client, close } = connect({
  kubeconfig: plane.kubeconfig,
  userAgent: 'rukpak-test/1',
});
let namespace = '';
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ namespace, drop } = await aTestNamespace(client, 'leader-election'));
});

afterAll(async () => {
  await drop();
  await close();
});

function candidate(identity: string, log: string[]) {
  const abort = new AbortController();
  const options = { client, namespace, name: 'lock', clock: systemClock, logger: silentLogger };
  const running = new LeaderElector({ ...options, identity }).run(abort.signal, {
    onStarted: async (signal) => {
      log.push(`${identity} leads`);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      log.push(`${identity} stops`);
    },
    onLost: () => log.push(`${identity} lost`),
  });
  return { abort, running };
}

describe('LeaderElector', () => {
  test('one leads at a time, a stop hands over within seconds, and who elects none runs beside none', async () => {
    const log: string[] = [];
    const candidates = ['a', 'b', 'c'].map((identity) => candidate(identity, log));
    await eventually(() => expect(log).toHaveLength(1));
    for (let turn = 0; turn < 2; turn++) {
      const leader = log.at(-1)?.[0] ?? '';
      const { abort, running } = candidates['abc'.indexOf(leader)]!;
      const handedOver = log.length + 2;
      abort.abort();
      await running;
      await eventually(() => expect(log).toHaveLength(handedOver));
    }
    expect(log.map((line) => line.slice(2))).toEqual(['leads', 'stops', 'leads', 'stops', 'leads']);
    const lease = await client.get(leaseResource, { namespace, name: 'lock' });
    expect(lease['spec']).toMatchObject({
      holderIdentity: log.at(-1)?.[0],
      leaseDurationSeconds: 15,
      leaseTransitions: 2,
      renewTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    const alone = leaderRunnable([{ run: async () => void log.push('alone') }], {
      client,
      namespace,
      leaseName: 'lock',
      leaderElection: false,
      caches: [],
      events: { event: () => undefined },
      metrics: { leader: { leads: () => undefined } },
      clock: systemClock,
      logger: silentLogger,
    });
    const holder = log.at(-1)?.[0];
    await expect(alone.run(new AbortController().signal)).rejects.toThrow(
      `${holder} holds Lease ${namespace}/lock and renews it`,
    );
    for (const { abort } of candidates) abort.abort();
    await Promise.all(candidates.map(async ({ running }) => await running));
    await alone.run(new AbortController().signal);
    expect(log.slice(-2)).toEqual([`${holder} stops`, 'alone']);
  });
});
