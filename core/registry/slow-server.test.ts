import { expect, test } from 'vitest';
import { systemClock } from '../platform/clock.ts';
import type { TransportResponse } from './http-answer.ts';
import { watched } from './slow-server.ts';

/** A chunk of so many bytes, each after half a minute. */
async function received(bytes: number, chunks: number, ours = 0): Promise<number> {
  let now = 0;
  async function* body() {
    for (let index = 0; index < chunks; index += 1) {
      now += 30_000;
      yield Buffer.alloc(bytes);
    }
  }
  let size = 0;
  const response = {
    status: 200,
    headers: {},
    // A stream would read ahead, and the time would be that of a later chunk.
    body: body() as unknown as TransportResponse['body'],
    url: new URL('https://registry.example/blob'),
  };
  for await (const chunk of watched(response, { ...systemClock, monotonic: () => now })) {
    size += chunk.byteLength;
    now += ours;
  }
  return size;
}

test('a server that sends less than 1 KiB a second is given up on', async () => {
  await expect(received(1, 100)).rejects.toThrow(
    'registry registry.example sends less than 1 KiB a second',
  );
  expect(await received(40_000, 10)).toBe(400_000);
});

test('the time that we take ourselves is not the server’s', async () => {
  await expect(received(20_000, 10)).rejects.toThrow('less than 1 KiB');
  expect(await received(31_000, 10, 1_000_000)).toBe(310_000);
});
