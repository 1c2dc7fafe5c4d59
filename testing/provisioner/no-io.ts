import { fail } from 'node:assert';
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Trial } from './trial.ts';

/**
 * A handler uses only its arguments: it opens no file, no connection and no process. The first call
 * may load the class's own code from files.
 */
export async function checkNoIo(trial: Trial): Promise<void> {
  const first = await watchedRun(trial);
  const uses = [...first.filter(({ kind }) => kind !== 'file'), ...(await watchedRun(trial))];
  const [use] = uses;
  if (use === undefined) return;
  fail(
    `it used ${use.what}${use.where}: a handler works on what it is given, and logs by context.logger`,
  );
}

async function watchedRun(trial: Trial): Promise<readonly IoUse[]> {
  const given = await trial.given();
  return await watchIo(() => trial.run(given));
}

interface IoUse {
  readonly kind: 'file' | 'network' | 'process';
  /** Such as `fs.readFileSync`, or `the network (TCPWRAP)`. */
  readonly what: string;
  /** ` at <file>:<line>:<column>` of the caller; empty when unknown. */
  readonly where: string;
}

const words = { file: 'a file', network: 'the network', process: 'a process' } as const;

/** Separates the watched calls from everything else in the process. */
const watched = new AsyncLocalStorage<IoUse[]>();

/**
 * Calls `run`, and reports its use of files, connections and processes: everything that waits for
 * the system, `fetch`, and all synchronous functions of `fs` and `child_process`. Cannot see
 * functions that were taken from the module's object before, nor other threads.
 */
async function watchIo(run: () => Promise<unknown>): Promise<readonly IoUse[]> {
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
    // Over an open connection it creates no resource that the hook would see.
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

/** Makes functions of an object record their calls; returns a function that restores them. */
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

/** Node's names (async_hooks) of resources that wait for the system. */
const ioResources: Readonly<Record<string, IoUse['kind']>> = {
  FSREQCALLBACK: 'file',
  FSREQPROMISE: 'file',
  FILEHANDLE: 'file',
  FILEHANDLECLOSEREQ: 'file',
  DIRHANDLE: 'file',
  FSEVENTWRAP: 'file',
  STATWATCHER: 'file',
  GETADDRINFOREQWRAP: 'network',
  GETNAMEINFOREQWRAP: 'network',
  QUERYWRAP: 'network',
  TCPWRAP: 'network',
  TCPCONNECTWRAP: 'network',
  TCPSERVERWRAP: 'network',
  TLSWRAP: 'network',
  UDPWRAP: 'network',
  UDPSENDWRAP: 'network',
  HTTPCLIENTREQUEST: 'network',
  HTTP2SESSION: 'network',
  PIPECONNECTWRAP: 'network',
  PIPESERVERWRAP: 'network',
  PROCESSWRAP: 'process',
};

/** The first place in a stack that is neither Node's nor this suite's. */
function callerOf(stack: string): string {
  const frame = stack
    .split('\n')
    .slice(1)
    .map((line) => /[\s(]((?:file:\/\/|\/)[^()]+:\d+:\d+)\)?$/.exec(line)?.[1])
    .find((place) => place !== undefined && !place.includes('/testing/provisioner/no-io.'));
  return frame === undefined ? '' : ` at ${frame}`;
}
