import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { callerOf } from './caller-of.ts';
import { ioResources } from './io-resources.ts';

export interface IoUse {
  readonly kind: 'file' | 'network' | 'process';
  /** Such as `fs.readFileSync`. */
  readonly what: string;
  /** ` at <file>:<line>:<column>` of who called; empty where that is not known. */
  readonly where: string;
}

/** Whose calls are watched: nothing else that happens in the process meanwhile is. */
const watched = new AsyncLocalStorage<IoUse[]>();

/**
 * Calls, and tells what files, connections and processes were used on its behalf: anything that
 * waits for the system, and all functions of `fs` and `child_process` that do not wait. Not seen are
 * functions of these that were taken from the module's object beforehand, and other threads.
 */
export async function watchIo(run: () => Promise<unknown>): Promise<readonly IoUse[]> {
  const uses: IoUse[] = [];
  const hook = createHook({
    init: (_id, type) => {
      const kind = ioResources[type];
      if (kind !== undefined) note(kind, type);
    },
  });
  const restore = [
    wrapSync(fs, { kind: 'file', module: 'fs' }),
    wrapSync(childProcess, { kind: 'process', module: 'child_process' }),
  ];
  syncBuiltinESMExports();
  hook.enable();
  try {
    await watched.run(uses, run);
  } finally {
    hook.disable();
    for (const undo of restore) undo();
    syncBuiltinESMExports();
  }
  return uses;
}

function note(kind: IoUse['kind'], what: string): void {
  watched.getStore()?.push({ kind, what, where: callerOf(new Error('here').stack ?? '') });
}

/** Has every function whose name ends in Sync note that it was called; gives back how to undo it. */
function wrapSync(
  module: object,
  { kind, module: name }: { readonly kind: IoUse['kind']; readonly module: string },
): () => void {
  const functions = module as Record<string, unknown>;
  const names = Object.keys(functions).filter((key) => key.endsWith('Sync'));
  const originals = names.map((key) => [key, functions[key]] as const);
  for (const [key, original] of originals) {
    if (typeof original !== 'function') continue;
    functions[key] = new Proxy(original, {
      apply: (target, self, args) => {
        note(kind, `${name}.${key}`);
        return Reflect.apply(target, self, args) as unknown;
      },
    });
  }
  return () => {
    for (const [key, original] of originals) functions[key] = original;
  };
}
