import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { between, type Fault } from './fault.ts';

const mebibyte = 1024 * 1024;
const hour = 3_600_000;

/** Fills the file system of the archives completely. */
export const fullDisk: Fault = {
  name: 'full-disk',
  unavailable: ({ disk }) =>
    disk === undefined ? 'a small file system cannot be mounted without root' : undefined,
  async strike({ disk = '' }, random) {
    // Beside the archives, where maintenance must leave it alone.
    const filler = join(disk, '..filler');
    await fill(filler);
    await delay(between(random, 1_000, 10_000));
    await rm(filler, { force: true });
  },
};

/** Writes until there is no space. */
async function fill(path: string): Promise<void> {
  try {
    for (;;) await writeFile(path, Buffer.alloc(mebibyte), { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Core's clock is set an hour ahead or back, and right again. */
export const clockJump: Fault = {
  name: 'clock-jump',
  async strike(world, random) {
    await world.setClock(random() < 0.5 ? hour : -hour);
    await delay(between(random, 2_000, 20_000));
    await world.setClock(0);
  },
};
