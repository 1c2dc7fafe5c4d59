import { setTimeout as delay } from 'node:timers/promises';
import { Option } from 'commander';

export interface WatchFlag {
  readonly watch?: true;
}

export function watchOption(meaning: string): Option {
  return new Option('-w, --watch', `${meaning}, until Ctrl-C`);
}

/** Milliseconds. */
const pause = 1_000;

/** Runs `work` once, or every second until the signal is aborted; that ends it without an error. */
export async function repeated(
  { watch, signal }: { readonly watch: boolean; readonly signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  if (!watch) return await work();
  try {
    for (;;) {
      await work();
      await delay(pause, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
