import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { withMemoryLimit } from './memory-limit.ts';
import { type WasmModule, webAssembly } from './web-assembly.ts';

// `npm run helm-engine` puts it here, and into dist.
const file = new URL('./helm-engine.wasm', import.meta.url);

/** @throws Error where it was not built, with the command that builds it. */
export async function compileEngine(memoryMegabytes: number, from = file): Promise<WasmModule> {
  const bytes = await readEngine(from);
  return await webAssembly.compile(withMemoryLimit(bytes, memoryMegabytes));
}

async function readEngine(from: URL): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readFile(from);
  } catch (error) {
    throw new Error(
      `Helm's engine is not built (${fileURLToPath(from)} cannot be read): run "npm run helm-engine", which needs Go`,
      { cause: error },
    );
  }
}
