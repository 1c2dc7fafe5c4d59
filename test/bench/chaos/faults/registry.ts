import { setTimeout as delay } from 'node:timers/promises';
import { between, type Fault } from './fault.ts';

/** The registry answers every request with 429. */
export const tooManyRequests: Fault = {
  name: 'registry-429',
  async strike({ registry }, random) {
    registry.refuses = true;
    await delay(between(random, 1_000, 10_000));
    registry.refuses = false;
  },
};

/** Moves tags to other content for a while, beginning during a pull of them. */
export const movedTags: Fault = {
  name: 'moved-tags',
  async strike({ registry, workload }, random) {
    const chosen = workload.apps.filter(() => random() < 0.5);
    let back = async (): Promise<void> => undefined;
    registry.beforeBlob = async () => {
      const moving = workload.moveTags(chosen);
      back = async () => await (await moving)();
      await moving;
    };
    await delay(between(random, 500, 3_000));
    registry.beforeBlob = undefined;
    await back();
  },
};
