import type { Clock } from '../../platform/clock.ts';
import { needsMore, tooSlow, watchMemory, watchProcessor } from './ends.ts';

export interface ProcessLimits {
  /** Limit of the JavaScript heap, and of heap and buffers together, in mebibytes. */
  readonly memoryMegabytes: number;
  /** Additional mebibytes of the process (default: `ownMegabytes`). */
  readonly besidesMegabytes?: number | undefined;
  /** Milliseconds of processor time per call, on systems that report it. */
  readonly processorLimit?: number | undefined;
  /** The advice in messages about content that takes too much. */
  readonly advice?: string | undefined;
  readonly clock: Clock;
}

interface WatchOptions extends ProcessLimits {
  /** Given when a flag sets the memory. */
  readonly confinement?: object | undefined;
  /** Aborted when the process has ended. */
  readonly signal: AbortSignal;
  /** Ends the process. */
  readonly onExcess: (reason: Error) => void;
}

/** Mebibytes of a process besides its heap: code, stacks, young objects. */
const ownMegabytes = 96;

/** Holds a process to its limits. */
export class ProcessWatch {
  readonly #pid: number | undefined;
  readonly #options: WatchOptions;

  /** Without a pid, of a process that could not be started, it watches nothing. */
  constructor(pid: number | undefined, options: WatchOptions) {
    this.#pid = pid;
    this.#options = options;
  }

  /** The error of the process when its memory is exhausted. */
  needsMore(callee: string): Error {
    const { memoryMegabytes, confinement, advice } = this.#options;
    return needsMore(callee, { memoryMegabytes, isFlag: confinement !== undefined, advice });
  }

  /** Watches the memory until the process ends. */
  async memory({
    onSample,
    callee,
  }: {
    /** Receives the bytes of each sample. */
    readonly onSample: (bytes: number) => void;
    /** The class or source that an error must name. */
    readonly callee: () => string;
  }): Promise<void> {
    const { memoryMegabytes, besidesMegabytes = ownMegabytes, clock, signal } = this.#options;
    if (this.#pid === undefined) return;
    await watchMemory({
      pid: this.#pid,
      maxBytes: (memoryMegabytes + besidesMegabytes) * 1024 * 1024,
      onSample,
      clock,
      signal,
      onExcess: () => this.#options.onExcess(this.needsMore(callee())),
    });
  }

  /** Watches the processor time of one call until it is finished. */
  async processor(callee: string, finished: AbortSignal): Promise<void> {
    const { processorLimit: limit, advice, clock } = this.#options;
    if (limit === undefined || this.#pid === undefined) return;
    const signal = AbortSignal.any([finished, this.#options.signal]);
    const onExcess = (): void => this.#options.onExcess(tooSlow(callee, { limit, advice }));
    await watchProcessor({ pid: this.#pid, limit, clock, signal, onExcess });
  }
}
