import { watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Editors write a file more than once, and several at once; milliseconds. */
const settling = 100;

/** Tests, hidden files and what editors leave beside a file do not change what runs. */
const unrelated = /\.test\.[cm]?[jt]s$|(^|\/)\.|~$|\.sw.$|(^|\/)\d+$/;

/** The file that was saved last in the folder or below, once for saves that come together. */
export async function* saves(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  let saved = '';
  let happened = Promise.withResolvers<void>();
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    if (name === null || unrelated.test(name)) return;
    saved = name;
    happened.resolve();
  });
  const stop = (): void => happened.resolve();
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      await happened.promise;
      if (signal.aborted) return;
      await delay(settling);
      happened = Promise.withResolvers();
      yield saved;
      if (signal.aborted) return;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    watcher.close();
  }
}
