import { randomFillSync } from 'node:crypto';
import { errorMessage, TerminalError } from '../../../core/sdk.ts';
import { type System, systemCalls } from './system-calls.ts';
import type { RandomBytes } from './wasm-chart-engine.ts';
import { type WasmMemory, type WasmModule, webAssembly } from './web-assembly.ts';

export interface EngineCall {
  readonly request: Uint8Array;
  /** Source of random numbers. Defaults to the system's. */
  readonly random?: RandomBytes;
  /** The time. Defaults to the system's. */
  readonly now?: Date;
}

/**
 * Exports of go/main.go. Addresses and sizes are unsigned 32-bit numbers, which arrive as signed
 * ones.
 */
interface EngineExports {
  readonly memory: WasmMemory;
  readonly _initialize: () => void;
  readonly reserve: (size: number) => number;
  readonly inspect: () => number;
  readonly render: () => number;
  readonly answer: () => number;
  readonly forget: () => void;
}

const outputKept = 64 * 1024;
const bytesPerMegabyte = 1024 * 1024;

/** A running Go module that stays alive between calls; useless after an error. */
export class EngineInstance {
  readonly #exports: EngineExports;
  readonly #memoryMegabytes: number;
  #call: Omit<EngineCall, 'request'> = {};
  #output = '';

  constructor(module: WasmModule, memoryMegabytes: number) {
    this.#memoryMegabytes = memoryMegabytes;
    const system: System = {
      memory: () => this.#exports.memory.buffer,
      random: (bytes) => (this.#call.random ?? randomFillSync)(bytes),
      now: () => this.#call.now?.getTime() ?? Date.now(),
      print: (text) => {
        this.#output = (this.#output + text).slice(0, outputKept);
      },
    };
    const { exports } = new webAssembly.Instance(module, systemCalls(module, system));
    this.#exports = exports as EngineExports;
    this.#guard(() => this.#exports._initialize());
  }

  /** The present size of its memory. */
  get megabytes(): number {
    return this.#exports.memory.buffer.byteLength / bytesPerMegabyte;
  }

  /**
   * The answer's text.
   * @throws TerminalError when memory or stack are too small for the request.
   */
  call(name: 'inspect' | 'render', { request, ...call }: EngineCall): string {
    this.#call = call;
    this.#output = '';
    const { memory, reserve, answer, forget } = this.#exports;
    return this.#guard(() => {
      const start = reserve(request.byteLength) >>> 0;
      // Growing memory gets another buffer, so it is read each time.
      new Uint8Array(memory.buffer, start).set(request);
      const size = this.#exports[name]() >>> 0;
      const text = Buffer.from(memory.buffer, answer() >>> 0, size).toString();
      forget();
      return text;
    });
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw engineFailure(error, this.#output, this.#memoryMegabytes);
    }
  }
}

/** Why an instance ended, from the error and Go's output before. */
function engineFailure(thrown: unknown, output: string, memoryMegabytes: number): Error {
  if (/out of memory|cannot allocate memory/.test(output)) {
    return new TerminalError(
      `rendering the chart needs more than ${memoryMegabytes} MiB of memory: make the chart smaller, or remove an endless loop or recursion from its templates`,
      { cause: thrown },
    );
  }
  if (thrown instanceof RangeError || output.includes('stack exceeds')) {
    return new TerminalError(
      'the templates or values of the chart nest too deeply to be rendered: look for a template that calls itself',
      { cause: thrown },
    );
  }
  const said = output.trim() || errorMessage(thrown);
  return new Error(`Helm's engine ended, which is a defect of it: ${said}`, { cause: thrown });
}
