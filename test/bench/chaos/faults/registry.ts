import { setTimeout as delay } from 'node:timers/promises';
import { movedContent } from '../world/workload.ts';
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
    const moved = workload.apps.filter(() => random() < 0.5);
    for (const app of moved) app.contents = [...app.contents, movedContent];
    const move = async (): Promise<void> => {
      await Promise.all(moved.map((app) => workload.push(app, app.version, movedContent)));
    };
    registry.beforeBlob = move;
    await delay(between(random, 500, 3_000));
    registry.beforeBlob = undefined;
    await Promise.all(moved.map((app) => workload.push(app, app.version, app.version)));
  },
};
