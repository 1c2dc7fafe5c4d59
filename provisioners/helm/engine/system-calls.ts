import type { RandomBytes } from './wasm-chart-engine.ts';
import { type WasmImports, type WasmModule, webAssembly } from './web-assembly.ts';

/** The machine's resources for an instance. */
export interface System {
  readonly memory: () => ArrayBuffer;
  readonly random: RandomBytes;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly print: (text: string) => void;
}

/** Error numbers of WASI's preview 1. */
const errno = { success: 0, badFile: 8, notSupported: 52 } as const;

const eventBytes = 32;
const subscriptionBytes = 48;
const nanosecondsPerMillisecond = 1_000_000n;
const realTime = 0;

// Go's standard library expects a first argument.
const argument = Buffer.from('helm\0');

type SystemCall = (...args: never[]) => number;
type FourNumbers = readonly [number, number, number, number];

/**
 * The part of WASI that Go's runtime needs: time, random numbers, and an output for its last
 * message. Refuses everything else. Node's own WASI would allow everything by default, and is not a
 * sandbox by its own documentation.
 */
export function systemCalls(module: WasmModule, system: System): WasmImports {
  const granted: Readonly<Record<string, SystemCall>> = {
    ...environmentCalls(system),
    ...timeCalls(system),
    ...outputCalls(system),
    random_get(start: number, size: number): number {
      system.random(new Uint8Array(system.memory(), start >>> 0, size));
      return errno.success;
    },
    proc_exit(code: number): never {
      throw new Error(`exit code ${code}`);
    },
    sched_yield: () => errno.success,
  };
  const imports: Record<string, Record<string, SystemCall>> = {};
  for (const { module: from, name } of webAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = granted[name] ?? (() => errno.notSupported);
  }
  return imports;
}

function environmentCalls({ memory }: System) {
  return {
    args_sizes_get(count: number, size: number): number {
      const view = new DataView(memory());
      view.setUint32(count, 1, true);
      view.setUint32(size, argument.byteLength, true);
      return errno.success;
    },
    args_get(pointers: number, text: number): number {
      new DataView(memory()).setUint32(pointers, text, true);
      new Uint8Array(memory()).set(argument, text);
      return errno.success;
    },
    environ_sizes_get(count: number, size: number): number {
      const view = new DataView(memory());
      view.setUint32(count, 0, true);
      view.setUint32(size, 0, true);
      return errno.success;
    },
    environ_get: () => errno.success,
    // There is no folder.
    fd_prestat_get: () => errno.badFile,
  };
}

function timeCalls({ memory, now }: System) {
  return {
    clock_time_get(clock: number, _precision: bigint, result: number): number {
      const time =
        clock === realTime ? BigInt(now()) * nanosecondsPerMillisecond : process.hrtime.bigint();
      new DataView(memory()).setBigUint64(result, time, true);
      return errno.success;
    },
    /**
     * An instance can wait only for time, and nothing else happens meanwhile: the wait ends at
     * once.
     */
    poll_oneoff(...[subscriptions, events, count, done]: FourNumbers): number {
      const view = new DataView(memory());
      for (let i = 0; i < count; i++) {
        const from = (subscriptions >>> 0) + i * subscriptionBytes;
        const to = (events >>> 0) + i * eventBytes;
        new Uint8Array(memory(), to, eventBytes).fill(0);
        // The subscriber's identifier.
        view.setBigUint64(to, view.getBigUint64(from, true), true);
      }
      view.setUint32(done >>> 0, count, true);
      return errno.success;
    },
  };
}

function outputCalls({ memory, print }: System) {
  return {
    fd_write(...[file, parts, count, written]: FourNumbers): number {
      if (file !== 1 && file !== 2) return errno.badFile;
      const view = new DataView(memory());
      let total = 0;
      for (let i = 0; i < count; i++) {
        const start = view.getUint32((parts >>> 0) + i * 8, true);
        const size = view.getUint32((parts >>> 0) + i * 8 + 4, true);
        print(Buffer.from(memory(), start, size).toString());
        total += size;
      }
      view.setUint32(written >>> 0, total, true);
      return errno.success;
    },
  };
}
