import type { ChartEngine } from './chart-engine.ts';
import { compileEngine } from './compile-engine.ts';
import { WasmChartEngine } from './wasm-chart-engine.ts';

export interface ChartEngineOptions {
  /** Bound on what one call may use; 512 where absent. */
  readonly memoryMegabytes?: number;
}

/**
 * Helm's engine, ready for calls. The module is read and compiled here, some 30 MB, so it is called
 * when the first chart comes.
 * @throws Error where the engine was not built: it names the command.
 */
export async function loadChartEngine(options: ChartEngineOptions = {}): Promise<ChartEngine> {
  const { memoryMegabytes = 512 } = options;
  const module = await compileEngine(memoryMegabytes);
  return new WasmChartEngine(module, memoryMegabytes);
}
