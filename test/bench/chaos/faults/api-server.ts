import { setTimeout as delay } from 'node:timers/promises';
import { microTime, systemClock } from '../../../../core/platform/clock.ts';
import { type Lease, leaseResource } from '../../../../core/platform/runtime/index.ts';
import { insisting } from '../world/insisting.ts';
import { between, type Fault } from './fault.ts';

const lease = { namespace: 'rukpak-system', name: 'core.rukpak.io' };

/** A network without any answer or refusal, as when a cable is pulled. */
export const partition: Fault = {
  name: 'partition',
  async strike({ network }, random) {
    network.cut();
    await delay(between(random, 2_000, 25_000));
    network.restore();
  },
};

/** The server answers watches with 410 Gone, again and again. */
export const gone: Fault = {
  name: 'gone-410',
  async strike({ api, foreign }, random) {
    api.forgets = true;
    for (let storm = 0; storm < 5; storm += 1) {
      api.forget();
      await foreign.churn(random, { share: 0.1, width: 8 });
      await delay(between(random, 100, 1_000));
    }
    api.forgets = false;
    api.forget();
  },
};

/** Watches stay open without events, until the proxy cuts them. */
export const stalledWatches: Fault = {
  name: 'stalled-watches',
  async strike({ api }, random) {
    const cut = api.stall();
    await delay(between(random, 10_000, 45_000));
    cut();
  },
};

/** Somebody else takes the lease and keeps it for a while. */
export const stolenLease: Fault = {
  name: 'stolen-lease',
  async strike({ bench }, random) {
    const { client } = bench.kube;
    const hold = async (holderIdentity: string, leaseDurationSeconds: number): Promise<void> => {
      await insisting(async () => {
        const held = (await client.get(leaseResource, lease)) as Lease;
        const renewTime = microTime(systemClock.now());
        const spec = { ...held.spec, holderIdentity, leaseDurationSeconds, renewTime };
        await client.update(leaseResource, { ...held, spec });
      });
    };
    const renewals = between(random, 2, 6);
    for (let renewal = 0; renewal < renewals; renewal += 1) {
      await hold('a-thief', 15);
      await delay(2_000);
    }
    await hold('', 1);
  },
};

/** All foreign objects change at once. */
export const churn: Fault = {
  name: 'churn',
  strike: ({ foreign }, random) => foreign.churn(random, { share: 1, width: 32 }),
};
