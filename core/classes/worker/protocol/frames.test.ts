import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { FrameSocket } from './frames.ts';

let server: Server;
let near: Socket;
let far: Socket;
let received: [string, number][];
let oversize: number[];
let sender: FrameSocket;
let receiver: FrameSocket;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  [far] = await accepted;
  received = [];
  oversize = [];
  const nothing = { onFrame: () => undefined, onOversize: () => undefined };
  sender = new FrameSocket(near, { ...nothing, maxBytes: 0 });
  receiver = new FrameSocket(far, {
    maxBytes: 1_000_000,
    onFrame: (head, body) => received.push([head.toString(), body.byteLength]),
    onOversize: (bytes) => oversize.push(bytes),
  });
});

afterEach(() => {
  near.destroy();
  far.destroy();
  server.close();
});

test('frames arrive whole and in order, however large or small', async () => {
  await sender.send(Buffer.from('a'));
  await sender.send(Buffer.from('b'), [new Uint8Array(400_000), new Uint8Array(5)]);
  await sender.send(Buffer.alloc(0));
  await eventually(() => expect(received).toHaveLength(3));
  expect(received).toEqual([
    ['a', 0],
    ['b', 400_005],
    ['', 0],
  ]);
});

test('frames arrive byte by byte too', async () => {
  const bytes = Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0x68, 0x69, 0x21]);
  for (const byte of bytes) {
    near.write(Buffer.from([byte]));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await eventually(() => expect(received).toEqual([['hi', 1]]));
});

test('a frame that is too large is refused by its length, before it is there', async () => {
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(1, 0);
  prefix.writeUInt32LE(1_000_000, 4);
  near.write(prefix);
  await eventually(() => expect(oversize).toEqual([1_000_001]));
  await sender.send(Buffer.from('later'));
  expect(received).toEqual([]);
});

test('sending to one that has gone ends', async () => {
  near.destroy();
  await once(far, 'close');
  await receiver.send(Buffer.from('a'));
});
