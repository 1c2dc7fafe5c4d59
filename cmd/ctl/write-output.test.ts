import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { writeOutput } from './write-output.ts';

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
