import { subscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach } from 'vitest';

interface Running {
  readonly fullName: string;
  readonly tags?: readonly string[];
}

// The files of a worker share its process, and each of them loads this.
declare global {
  var rukpakRunningTest: Running | undefined;
  var rukpakWatchesProcesses: true | undefined;
}

beforeEach(({ task }) => {
  globalThis.rukpakRunningTest = task;
});

afterEach(() => {
  globalThis.rukpakRunningTest = undefined;
});

/** Fails the run: `npm run check` is to stay fast. */
function refuse(): void {
  const test = globalThis.rukpakRunningTest;
  if (test === undefined || test.tags?.includes('process') === true) return;
  throw new Error(`${test.fullName} starts a process or thread: give it the tag "process"`);
}

if (globalThis.rukpakWatchesProcesses === undefined) {
  globalThis.rukpakWatchesProcesses = true;
  subscribe('child_process', refuse);
  subscribe('worker_threads', refuse);
}
