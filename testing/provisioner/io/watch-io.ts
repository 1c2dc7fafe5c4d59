import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { callerOf } from './caller-of.ts';
import { ioResources } from './io-resources.ts';
import type { IoUse } from './io-use.ts';

const words = { file: 'a file', network: 'the network', process: 'a process' } as const;

/** Whose calls are watched: nothing else that happens in the process meanwhile is. */
const watched = new AsyncLocalStorage<IoUse[]>();

/**
 * Calls, and tells what files, connections and processes were used on its behalf: anything that
 * waits for the system, `fetch`, and all functions of `fs` and `child_process` that do not wait. Not
 * seen are functions of these that were taken from the module's object beforehand, and other threads.
 */
export async function watchIo(run: () => Promise<unknown>): Promise<readonly IoUse[]> {
  const uses: IoUse[] = [];
  const hook = createHook({
    init: (_id, type) => {
      const kind = ioResources[type];
      if (kind !== undefined) note(kind, `${words[kind]} (${type})`);
    },
  });
  const restore = [
    wrap(fs, syncFunctions(fs), { kind: 'file', prefix: 'fs.' }),
    wrap(childProcess, syncFunctions(childProcess), { kind: 'process', prefix: 'child_process.' }),
    // Over a connection that is open already it makes nothing that the hook would see.
    wrap(globalThis, ['fetch'], { kind: 'network', prefix: '' }),
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

function syncFunctions(module: object): readonly string[] {
  return Object.keys(module).filter((name) => name.endsWith('Sync'));
}

/** Has functions of an object note that they were called; gives back how to undo it. */
function wrap(
  owner: object,
  names: readonly string[],
  { kind, prefix }: { readonly kind: IoUse['kind']; readonly prefix: string },
): () => void {
  const functions = owner as Record<string, unknown>;
  const originals = names.map((name) => [name, functions[name]] as const);
  for (const [name, original] of originals) {
    if (typeof original !== 'function') continue;
    functions[name] = new Proxy(original, {
      apply: (target, self, args) => {
        note(kind, `${prefix}${name}`);
        return Reflect.apply(target, self, args) as unknown;
      },
    });
  }
  return () => {
    for (const [name, original] of originals) functions[name] = original;
  };
}
