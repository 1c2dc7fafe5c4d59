import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { progressOn, writeOutput } from './output.ts';

class Output extends Writable {
  readonly texts: string[] = [];
  failure: Error | undefined;

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.texts.push(chunk.toString());
    setImmediate(() => done(this.failure));
  }
}

function closedPipe(): Error {
  return Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
}

test('many writes leave the output open, and no listener on it', async () => {
  const output = new Output();
  const events = output.eventNames().length;
  for (let line = 1; line <= 20; line += 1) await writeOutput([`${line}\n`], output);
  expect(output.texts).toHaveLength(20);
  expect(output.writableEnded).toBe(false);
  expect(output.eventNames()).toHaveLength(events);
});

test('the source is held back until a chunk is written', async () => {
  const output = new Output();
  const ahead: number[] = [];
  await writeOutput(
    (function* () {
      for (let chunk = 0; chunk < 5; chunk += 1) {
        ahead.push(chunk - output.texts.length);
        yield 'x';
      }
    })(),
    output,
  );
  expect(Math.max(...ahead)).toBeLessThanOrEqual(0);
});

test('a reader that went away ends it, however much there is, once and again', async () => {
  const output = new Output();
  output.failure = closedPipe();
  let read = 0;
  function* lines(): Generator<string> {
    for (;;) yield `${(read += 1)}`;
  }
  await writeOutput(lines(), output);
  expect(read).toBeLessThan(5);
  await writeOutput(['more'], output);
});

test('another failure is thrown', async () => {
  const output = new Output();
  output.failure = new Error('no space left on device');
  await expect(writeOutput(['a'], output)).rejects.toThrow('no space left on device');
});

async function linesOf(isTTY: boolean, milliseconds: number): Promise<string[]> {
  const lines: string[] = [];
  const progress = progressOn({ isTTY, write: (text) => lines.push(text) });
  const step = progress('waiting for it', async () => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return 'done';
  });
  await vi.advanceTimersByTimeAsync(milliseconds);
  expect(await step).toBe('done');
  await vi.advanceTimersByTimeAsync(60_000);
  return lines;
}

describe('progressOn', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('says nothing of what takes less than a second', async () => {
    expect(await linesOf(true, 900)).toEqual([]);
  });

  it('names a slow step, repeatedly', async () => {
    expect(await linesOf(true, 21_000)).toEqual([
      'waiting for it …\n',
      'waiting for it … 10 s\n',
      'waiting for it … 20 s\n',
    ]);
  });

  it('says nothing where no person looks on', async () => {
    expect(await linesOf(false, 21_000)).toEqual([]);
  });

  it('stops where the step fails', async () => {
    const write = vi.fn();
    const step = progressOn({ isTTY: true, write })('x', async () => {
      throw new Error('no');
    });
    await expect(step).rejects.toThrow('no');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(write).not.toHaveBeenCalled();
  });
});
