import { setImmediate as othersTurn } from 'node:timers/promises';

/** Aborted by the first SIGINT or SIGTERM; a second one ends the process at once. */
export function stopSignal(): AbortSignal {
  return listenForStop().signal;
}

interface StopListener extends Disposable {
  readonly signal: AbortSignal;
}

/** The same until it is disposed of: after that the first one ends the process at once again. */
export function listenForStop(): StopListener {
  const stop = new AbortController();
  const names = ['SIGINT', 'SIGTERM'] as const;
  const end = (name: string): void => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort(new Error(`received ${name}`));
  };
  for (const name of names) process.on(name, end);
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, end);
    },
  };
}

/** @throws the signal's reason, even if it arrived during synchronous work just before. */
export async function throwIfStopped(signal: AbortSignal): Promise<void> {
  // The event loop looks for signals before the second turn, but maybe not before the first.
  await othersTurn();
  await othersTurn();
  signal.throwIfAborted();
}
