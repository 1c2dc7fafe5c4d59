import { setTimeout as delay } from 'node:timers/promises';
import type { PartName } from '../cluster-parts.ts';
import type { World } from '../world/world.ts';
import { between, type Fault } from './fault.ts';

/** Around the 15 s that a lease lasts, milliseconds. */
const frozen = { least: 2_000, most: 20_000 };

export const killCore: Fault = {
  name: 'kill-core',
  async strike({ core }) {
    await running(core);
    await core.end('SIGKILL');
  },
};

export const freezeCore: Fault = {
  name: 'freeze-core',
  async strike({ core }, random) {
    await running(core);
    const { pid } = core;
    process.kill(pid, 'SIGSTOP');
    await delay(between(random, frozen.least, frozen.most));
    process.kill(pid, 'SIGCONT');
  },
};

export const killEtcd = killed('etcd');
export const killApiserver = killed('kube-apiserver');
export const freezeEtcd = freezes('etcd');
export const freezeApiserver = freezes('kube-apiserver');

function killed(part: PartName): Fault {
  return { name: `kill-${part}`, strike: ({ parts }) => parts.restart(part) };
}

function freezes(part: PartName): Fault {
  return {
    name: `freeze-${part}`,
    async strike({ parts }, random) {
      await parts.signal(part, 'SIGSTOP');
      await delay(between(random, frozen.least, frozen.most));
      await parts.signal(part, 'SIGCONT');
    },
  };
}

/** Waits while the supervisor restarts the process. */
async function running(core: World['core']): Promise<void> {
  while (!core.running) await delay(10);
}
