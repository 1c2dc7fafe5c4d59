import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { extname } from 'node:path';

const extension = extname(import.meta.url);

/** What a class may import of ours; where it has a copy of its own, that is what it gets. */
const ownModules: Readonly<Record<string, string>> = {
  'rukpak-ts/sdk': new URL(`../../sdk${extension}`, import.meta.url).href,
  'rukpak-ts/api/v1alpha1': new URL(`../../../api/v1alpha1/index${extension}`, import.meta.url)
    .href,
};

/**
 * Prepares this process for code that we did not write, before any of it is loaded. What Node's
 * permissions do not cover is taken away here (docs/adr/0023). `channel` is the process's own socket.
 */
export function confine(channel: Socket): void {
  lendSdk();
  keepFromOthers();
  refuseUnixSockets(channel);
}

/** A single file, such as from a ConfigMap, has no node_modules to find the sdk in. */
function lendSdk(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const own = ownModules[specifier];
      if (own === undefined) return nextResolve(specifier, context);
      try {
        return nextResolve(specifier, context);
      } catch {
        return nextResolve(own, context);
      }
    },
  });
}

/** What Node's types leave out of `process`. */
interface Internals {
  /** Behind process.kill. */
  _kill: (pid: number, signal: number) => number;
  _debugProcess: unknown;
}

/** Neither processes of the same user, its manager among them, nor their files are to be touched. */
function keepFromOthers(): void {
  const internals = process as unknown as Internals;
  const kill = internals._kill;
  internals._kill = (pid, signal) => {
    if (pid === process.pid) return kill(pid, signal);
    throw new Error('a class may not signal other processes');
  };
  // It has another process open its debugger.
  internals._debugProcess = undefined;
  const require = createRequire(import.meta.url);
  const os = require('node:os') as { setPriority: unknown };
  os.setPriority = () => {
    throw new Error('a class may not change priorities');
  };
  // Some of them have V8 write files, wherever it is told to.
  const v8 = require('node:v8') as { setFlagsFromString: unknown };
  v8.setFlagsFromString = () => {
    throw new Error('a class may not change the flags of V8');
  };
  syncBuiltinESMExports();
}

/** What all Unix sockets of Node stand on. */
interface Pipe {
  bind: unknown;
  connect: unknown;
  listen: unknown;
}

/** Container runtimes and other processes listen there, and a file of its own is made for each. */
function refuseUnixSockets(channel: Socket): void {
  const { _handle: handle } = channel as unknown as { readonly _handle: Pipe };
  const prototype = Object.getPrototypeOf(handle) as Pipe;
  for (const name of ['bind', 'connect', 'listen'] satisfies readonly (keyof Pipe)[]) {
    if (typeof prototype[name] !== 'function') throw new Error(`Node's Pipe has no ${name}`);
    Object.defineProperty(prototype, name, {
      value: refuseUnixSocket,
      writable: false,
      configurable: false,
    });
  }
}

function refuseUnixSocket(): never {
  throw new Error('a class may not use Unix sockets');
}
