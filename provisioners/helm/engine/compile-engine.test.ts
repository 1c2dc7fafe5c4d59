import { describe, expect, test } from 'vitest';
import { compileEngine, withMemoryLimit } from './compile-engine.ts';
import { webAssembly } from './web-assembly.ts';

test('an engine that is not built is asked for with the command', async () => {
  const nowhere = new URL('./nowhere.wasm', import.meta.url);
  await expect(compileEngine(512, nowhere)).rejects.toThrow(
    /^Helm's engine is not built \(.*nowhere\.wasm cannot be read\): run "npm run helm-engine", which needs Go$/,
  );
});

const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const exported = [7, 5, 1, 1, 0x6d, 2, 0];

function aModule(...sections: readonly (readonly number[])[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...header, ...sections.flat()]);
}

async function memoryOf(module: Uint8Array<ArrayBuffer>) {
  const { exports } = new webAssembly.Instance(await webAssembly.compile(module), {});
  return (exports as { readonly m: { grow(pages: number): number } }).m;
}

describe('a module with a bound on its memory', () => {
  test('grows up to it and no further', async () => {
    const memory = await memoryOf(withMemoryLimit(aModule([5, 3, 1, 0, 2], exported), 1));
    expect(memory.grow(14)).toBe(2);
    expect(() => memory.grow(1)).toThrow(RangeError);
  });

  test('is refused where it begins beyond it', () => {
    // 300 pages are 18.75 MiB.
    expect(() => withMemoryLimit(aModule([5, 4, 1, 0, 0xac, 2]), 10)).toThrow(
      "Helm's engine needs 19 MiB of memory at least, and is given 10",
    );
  });

  test.each([
    ['no memory', aModule(), 'the module has no memory of its own'],
    ['a bound already', aModule([5, 4, 1, 1, 1, 2]), 'the module has not one unbounded memory'],
    ['no end', aModule([5, 0x80]), 'the module is cut off'],
  ])('is refused where it has %s', (_, module, message) => {
    expect(() => withMemoryLimit(module, 10)).toThrow(message);
  });
});
