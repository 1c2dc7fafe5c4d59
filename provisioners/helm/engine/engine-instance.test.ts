import { beforeAll, describe, expect, test } from 'vitest';
import { compileEngine } from './compile-engine.ts';
import { EngineInstance } from './engine-instance.ts';
import type { WasmModule } from './web-assembly.ts';

let module: WasmModule;

beforeAll(async () => {
  module = await compileEngine(128);
}, 600_000);

describe('an instance', () => {
  test.each([
    ['without a length', Buffer.from('x')],
    ['shorter than it says', Buffer.from([9, 0, 0, 0, 1])],
    ['whose files are not there', cutOff()],
  ])('answers a request %s with what is wrong', (_, request) => {
    const answer = new EngineInstance(module, 128).call('inspect', { request });
    expect(JSON.parse(answer)).toEqual({ panic: 'the request is cut off', warnings: [] });
  });

  test('reports the size of its memory', () => {
    const instance = new EngineInstance(module, 128);
    const before = instance.megabytes;
    instance.call('inspect', { request: Buffer.alloc(60 * 1024 * 1024) });
    expect(instance.megabytes).toBeGreaterThan(before);
    expect(instance.megabytes).toBeLessThanOrEqual(128);
  });

  test('takes no request beyond its memory', () => {
    const request = Buffer.alloc(200 * 1024 * 1024);
    expect(() => new EngineInstance(module, 128).call('inspect', { request })).toThrow(
      'rendering the chart needs more than 128 MiB of memory',
    );
  });
});

function cutOff(): Buffer {
  const header = JSON.stringify({ files: [{ path: 'Chart.yaml', size: 5 }] });
  return Buffer.from(`${String.fromCharCode(header.length)}\0\0\0${header}abc`);
}
