import { createCipheriv, createHmac } from 'node:crypto';
import { TerminalError } from '../../../core/sdk.ts';
import type {
  Chart,
  ChartEngine,
  ChartFiles,
  ChartRelease,
  RenderedChart,
  RenderRequest,
} from './chart-engine.ts';
import { compileEngine } from './compile-engine.ts';
import { type EngineCall, EngineInstance } from './engine-instance.ts';
import type { WasmModule } from './web-assembly.ts';

interface ChartEngineOptions {
  /** Maximum memory of one call, in MiB (default 512). */
  readonly memoryMegabytes?: number;
}

/**
 * Helm's engine, ready for calls. Reads and compiles the module, some 30 MB, so call it when the
 * first chart comes.
 * @throws Error that names the build command, when the engine was not built.
 */
export async function loadChartEngine(options: ChartEngineOptions = {}): Promise<ChartEngine> {
  const { memoryMegabytes = 512 } = options;
  const module = await compileEngine(memoryMegabytes);
  return new WasmChartEngine(module, memoryMegabytes);
}

let loading: Promise<ChartEngine> | undefined;

/** The single engine of this process, loaded when the first chart comes. */
export async function sharedEngine(): Promise<ChartEngine> {
  loading ??= loadChartEngine();
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** The engine's JSON answer: one of the first three fields. */
interface Answer<T> {
  readonly result?: T;
  readonly error?: string;
  /** A bug in the engine. */
  readonly panic?: string;
  readonly warnings: readonly string[];
}

/**
 * Keeps one instance of the module alive, because creating one costs more than most renderings, and
 * replaces one that failed or has grown large, because a module's memory never shrinks.
 */
class WasmChartEngine implements ChartEngine {
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
    // Restored only after it is known to work.
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

type RequestHeader = Omit<RenderRequest, 'files' | 'seed' | 'now'>;

/**
 * A request in the engine's format (go/request.go): the length of a JSON text, that text, and the
 * content of the files in its order.
 */
function requestBytes(files: ChartFiles, header: Partial<RequestHeader>): Uint8Array {
  const table = Array.from(files, ([path, content]) => ({ path, size: content.byteLength }));
  const text = Buffer.from(JSON.stringify({ ...header, files: table }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.byteLength);
  return Buffer.concat([length, text, ...files.values()]);
}

/** Fills the buffer with the next random bytes. */
export type RandomBytes = (bytes: Uint8Array) => void;

/** Random bytes that depend only on seed and release, and cannot be guessed without the seed. */
function randomStream(seed: Uint8Array, { name, namespace }: ChartRelease): RandomBytes {
  const key = createHmac('sha256', seed).update(`helm ${namespace}/${name}`).digest();
  // Each key has only one stream, so that its counter may start at zero.
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return (bytes) => bytes.set(cipher.update(new Uint8Array(bytes.byteLength)));
}

const mostCharacters = 8_000;
const keptAtEachEnd = 2_000;

/**
 * Helm's error in a readable length. An error of templates that include each other has a line for
 * each of a thousand levels, and the reason at its end.
 */
export function readableError(text: string): string {
  if (text.length <= mostCharacters) return text;
  const left = text.length - 2 * keptAtEachEnd;
  return `${text.slice(0, keptAtEachEnd)} … (${left} characters) … ${text.slice(-keptAtEachEnd)}`;
}
