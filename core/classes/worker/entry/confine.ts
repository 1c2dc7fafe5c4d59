import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { extname } from 'node:path';

const extension = extname(import.meta.url);

/** Modules of this package that a class may import; its own copy has priority. */
const ownModules: Readonly<Record<string, string>> = {
  'rukpak-ts/sdk': new URL(`../../../sdk${extension}`, import.meta.url).href,
  'rukpak-ts/api/v1alpha1': new URL(`../../../../api/v1alpha1/index${extension}`, import.meta.url)
    .href,
};

/**
 * Prepares this process for foreign code, before any of it is loaded: removes what Node's
 * permissions do not cover (docs/adr/0023). `channel` is the process's own socket.
 */
export function confine(channel: Socket): void {
  lendSdk();
  keepFromOthers();
  refuseUnixSockets(channel);
}

/** A single file, such as from a ConfigMap, has no node_modules with the SDK. */
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

/** Members of `process` that Node's types omit. */
interface Internals {
  /** The implementation of process.kill. */
  _kill: (pid: number, signal: number) => number;
  _debugProcess: unknown;
}

/** Protects other processes of the same user, including the manager, and their files. */
function keepFromOthers(): void {
  const internals = process as unknown as Internals;
  const kill = internals._kill;
  internals._kill = (pid, signal) => {
    if (pid === process.pid) return kill(pid, signal);
    throw new Error('a class may not signal other processes');
  };
  // It would open another process's debugger.
  internals._debugProcess = undefined;
  const require = createRequire(import.meta.url);
  const os = require('node:os') as { setPriority: unknown };
  os.setPriority = () => {
    throw new Error('a class may not change priorities');
  };
  // Some V8 flags make it write files anywhere.
  const v8 = require('node:v8') as { setFlagsFromString: unknown };
  v8.setFlagsFromString = () => {
    throw new Error('a class may not change the flags of V8');
  };
  syncBuiltinESMExports();
}

/** The implementation of all Unix sockets in Node. */
interface Pipe {
  bind: unknown;
  connect: unknown;
  listen: unknown;
}

/** Container runtimes and other processes listen on them, and a listener creates a file. */
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
