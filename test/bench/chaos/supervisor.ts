import { setTimeout as delay } from 'node:timers/promises';
import type { CoreProcess } from '../core-process.ts';

const pause = 500;

/** Starts a process again whenever it ends, as a kubelet does. */
export class Supervisor implements AsyncDisposable {
  /** How often it has done so. */
  restarts = 0;
  readonly #core: CoreProcess;
  readonly #life = new AbortController();
  readonly #running: Promise<void>;

  constructor(core: CoreProcess) {
    this.#core = core;
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort();
    await this.#core.end('SIGTERM');
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#core.ended();
      if (this.#life.signal.aborted) return;
      await delay(pause);
      if (this.#life.signal.aborted) return;
      await this.#core.launch();
      if (this.#life.signal.aborted) await this.#core.end('SIGTERM');
      this.restarts += 1;
    }
  }
}
