import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { collect } from '../../test/helpers/collect.ts';
import { systemClock } from '../platform/clock.ts';
import { resumedDownload, watched } from './blob.ts';
import type { TransportResponse } from './http/response.ts';

const content = Buffer.from('0123456789'.repeat(10));
const { signal } = new AbortController();
const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };

function answer(status: number, body: AsyncIterable<Uint8Array>): TransportResponse {
  const readable = Readable.from(body) as unknown as Dispatcher.ResponseData['body'];
  return { status, headers: {}, body: readable, url: new URL('https://registry.example/blob') };
}

/** Sends what there is from the offset on, and breaks after so many bytes. */
function breaking(bytes: number, offsets: number[], ranges = true) {
  return async (offset: number) => {
    offsets.push(offset);
    const rest = content.subarray(ranges ? offset : 0);
    async function* body() {
      yield rest.subarray(0, bytes);
      if (rest.byteLength >= bytes) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    }
    return answer(offset > 0 && ranges ? 206 : 200, body());
  };
}

async function download(open: (offset: number) => Promise<TransportResponse>): Promise<string> {
  const chunks = await collect(resumedDownload(open, { size: content.byteLength, clock, signal }));
  return Buffer.concat(chunks).toString();
}

test('goes on as long as each connection brings something', async () => {
  const offsets: number[] = [];
  expect(await download(breaking(7, offsets))).toBe(content.toString());
  expect(offsets).toEqual(Array.from({ length: 15 }, (_, index) => 7 * index));
});

test('is complete where a connection breaks after the last byte', async () => {
  const offsets: number[] = [];
  expect(await download(breaking(content.byteLength, offsets))).toBe(content.toString());
  expect(offsets).toEqual([0]);
});

test('ends where connections bring nothing more', async () => {
  const offsets: number[] = [];
  await expect(download(breaking(7, offsets, false))).rejects.toThrow(
    'registry registry.example: connection reset',
  );
  expect(offsets).toEqual([0, 7, 7, 7]);
});

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
