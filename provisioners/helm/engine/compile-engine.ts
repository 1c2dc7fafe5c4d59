import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type WasmModule, webAssembly } from './web-assembly.ts';

// `npm run helm-engine` puts it here, and into dist.
const file = new URL('./helm-engine.wasm', import.meta.url);

/** @throws Error when it was not built, with the command that builds it. */
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

const headerBytes = 8;
const memorySection = 5;
const pagesPerMegabyte = 16;

/**
 * The module with a memory limit. Go writes no limit, and nothing else limits a module's memory;
 * within the limit, Go's own allocator fails with a message.
 * @throws Error when the module does not have exactly Go's one unlimited memory.
 */
export function withMemoryLimit(
  module: Uint8Array<ArrayBuffer>,
  megabytes: number,
): Uint8Array<ArrayBuffer> {
  for (let at = headerBytes; at < module.length; ) {
    const size = readNumber(module, at + 1);
    const end = size.next + size.value;
    if (module[at] === memorySection) {
      const section = boundedMemory(module.subarray(size.next, end), megabytes);
      return Buffer.concat([module.subarray(0, at), section, module.subarray(end)]);
    }
    at = end;
  }
  throw new Error('the module has no memory of its own');
}

/** One memory, with flags that tell whether it has a limit, and its first size. */
function boundedMemory(section: Uint8Array, megabytes: number): Uint8Array {
  const [count, flags] = section;
  if (count !== 1 || flags !== 0) throw new Error('the module has not one unbounded memory');
  const first = readNumber(section, 2).value;
  const most = megabytes * pagesPerMegabyte;
  if (first > most) {
    const least = Math.ceil(first / pagesPerMegabyte);
    throw new Error(
      `Helm's engine needs ${least} MiB of memory at least, and is given ${megabytes}`,
    );
  }
  const content = [1, 1, ...writeNumber(first), ...writeNumber(most)];
  return Uint8Array.from([memorySection, ...writeNumber(content.length), ...content]);
}

interface ReadNumber {
  readonly value: number;
  readonly next: number;
}

/** LEB128, the format of all numbers in a module. */
function readNumber(bytes: Uint8Array, start: number): ReadNumber {
  let value = 0;
  for (let next = start, factor = 1; ; next++, factor *= 128) {
    const byte = bytes[next];
    if (byte === undefined) throw new Error('the module is cut off');
    value += (byte % 128) * factor;
    if (byte < 128) return { value, next: next + 1 };
  }
}

function writeNumber(value: number): number[] {
  if (value < 128) return [value];
  return [(value % 128) + 128, ...writeNumber(Math.floor(value / 128))];
}
