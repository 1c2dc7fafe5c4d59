import { TerminalError } from '../../../core/sdk.ts';
import type { Chart } from './chart.ts';
import type { ChartEngine } from './chart-engine.ts';
import type { ChartFiles } from './chart-files.ts';
import { type EngineCall, EngineInstance } from './engine-instance.ts';
import { randomStream } from './random-stream.ts';
import { readableError } from './readable-error.ts';
import type { RenderRequest } from './render-request.ts';
import type { RenderedChart } from './rendered-chart.ts';
import { type RequestHeader, requestBytes } from './request-bytes.ts';
import type { WasmModule } from './web-assembly.ts';

/** What the engine writes, as JSON: one of the first three. */
interface Answer<T> {
  readonly result?: T;
  readonly error?: string;
  /** A defect of the engine. */
  readonly panic?: string;
  readonly warnings: readonly string[];
}

/**
 * Keeps one instance of the module alive, because making one costs more than most renderings, and
 * makes another where one failed or has grown large: a module's memory never shrinks.
 */
export class WasmChartEngine implements ChartEngine {
  readonly #module: WasmModule;
  readonly #memoryMegabytes: number;
  #instance: EngineInstance | undefined;

  constructor(module: WasmModule, memoryMegabytes: number) {
    this.#module = module;
    this.#memoryMegabytes = memoryMegabytes;
  }

  inspect(files: ChartFiles): Chart {
    const { result } = this.#ask<Chart>('inspect', { request: requestBytes(files, {}) });
    return result;
  }

  render(request: RenderRequest): RenderedChart {
    const { files, seed, now, release } = request;
    const call = {
      request: requestBytes(files, headerOf(request)),
      ...(seed === undefined ? {} : { random: randomStream(seed, release) }),
      ...(now === undefined ? {} : { now }),
    };
    const { result, warnings } = this.#ask<Omit<RenderedChart, 'warnings'>>('render', call);
    return { ...result, warnings };
  }

  #ask<T>(
    name: 'inspect' | 'render',
    call: EngineCall,
  ): Pick<Answer<T>, 'warnings'> & { result: T } {
    this.#instance ??= new EngineInstance(this.#module, this.#memoryMegabytes);
    const instance = this.#instance;
    // Put back only once it is known to be sound.
    this.#instance = undefined;
    const { result, error, panic, warnings } = JSON.parse(instance.call(name, call)) as Answer<T>;
    if (panic !== undefined) {
      throw new Error(`Helm's engine failed, which is a defect of it: ${panic}`);
    }
    if (instance.megabytes <= this.#memoryMegabytes / 2) this.#instance = instance;
    if (error !== undefined || result === undefined)
      throw new TerminalError(readableError(error ?? ''));
    return { result, warnings };
  }
}

function headerOf(request: RenderRequest): RequestHeader {
  const { values, release, kubeVersion, apiVersions, lookup = 'refuse' } = request;
  return { values, release, kubeVersion, apiVersions, lookup };
}
