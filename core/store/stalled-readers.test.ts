import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { ask, ContentServerFixture } from '../../test/helpers/content-server-fixture.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { stamped } from './archive.ts';

let fixture: ContentServerFixture;

beforeEach(async () => {
  fixture = await ContentServerFixture.create();
  const big = stamped(Readable.from([gzipSync(''), Buffer.alloc(20_000_000)]), { uid: '1' });
  await writeFile(join(fixture.directory, 'big.tgz'), big);
});

afterEach(async () => {
  await fixture.remove();
});

interface Reader {
  readonly socket: Socket;
  readonly start: string;
}

/** Asks for an archive, reads how the answer begins, and takes nothing more. */
async function stalledReader(
  server: string,
  token: string,
  localAddress = '127.0.0.1',
): Promise<Reader> {
  const { hostname: host, port } = new URL(server);
  const socket = connect({ port: Number(port), host, localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(
    `GET /bundles/big.tgz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  const [chunk] = await once(socket, 'data');
  socket.pause();
  return { socket, start: String(chunk) };
}

test('a user who reads too much at once is told so; others are served, and stalled readers cut', {
  tags: ['slow'],
}, async () => {
  const clock = new ManualClock();
  const server = await fixture.start({
    clock,
    reviewer: {
      review: async (caller) => ({
        authenticated: true,
        user: 'token' in caller ? caller.token : '',
        allowed: true,
      }),
    },
  });
  const readers = await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      stalledReader(server, 'greedy', index % 2 === 0 ? '127.0.0.2' : '127.0.0.3'),
    ),
  );
  const refused = readers.filter(({ start }) => start.startsWith('HTTP/1.1 429 '));
  expect(refused).toHaveLength(300 - 64);
  for (const { start } of refused) {
    expect(start).toContain('Retry-After: 10\r\n');
    expect(start).toMatch(
      /\r\n\r\nuser greedy reads 64 archives at the same time already: wait until one of them has ended\n$/,
    );
  }
  const url = `${server}/bundles/my-bundle.tgz`;
  expect((await ask(url, { token: 'other' })).status).toBe(200);
  expect((await ask(url, { token: 'greedy' })).status).toBe(429);
  // What fits into the buffers of the connections counts as taken.
  await eventually(async () => {
    clock.advance(30_000);
    expect((await ask(url, { token: 'greedy' })).status).toBe(200);
  });
});

test('a reader that goes on is not cut', async () => {
  const clock = new ManualClock();
  const server = await fixture.start({ clock });
  const { socket } = await stalledReader(server, 'reader');
  const ended = once(socket, 'end');
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > 2_000_000 && bytes < 10_000_000) clock.advance(1_000);
  });
  socket.resume();
  await eventually(() => expect(bytes).toBeGreaterThan(19_900_000));
  socket.end();
  await ended;
});
