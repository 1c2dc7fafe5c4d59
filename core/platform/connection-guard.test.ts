import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../test/helpers/eventually.ts';
import { guardConnections } from './connection-guard.ts';

const quiet = '127.0.0.1';
const strangers = ['127.0.0.2', '127.0.0.3'];
const withoutBody = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';
const slow = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
const quick = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

let port: number;
/** Answers that the server has begun, by address and port of the client. */
let begun: Map<string, ServerResponse>;
let arrivals: EventEmitter;

beforeEach(async () => {
  begun = new Map();
  // Each client listens.
  arrivals = new EventEmitter().setMaxListeners(0);
  const server = createServer((request, response) => {
    const { remoteAddress, remotePort } = request.socket;
    const client = `${remoteAddress}:${remotePort}`;
    begun.set(client, response);
    arrivals.emit(client);
    if (request.url === '/slow') response.write('first');
    else request.resume().once('end', () => response.end('done'));
  });
  guardConnections(server, () => undefined);
  server.listen(0, quiet);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
});

interface Client {
  readonly socket: Socket;
  /** Everything that the server has sent. */
  readonly text: () => string;
}

/** Resolves when the server has begun to answer the request, or has closed the connection. */
async function send(localAddress: string, request: string): Promise<Client> {
  const socket = connect({ host: quiet, port, localAddress });
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    text += String(data);
  });
  await once(socket, 'connect');
  const arrived = once(arrivals, `${localAddress}:${socket.localPort}`);
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  socket.write(request);
  await Promise.race([arrived, closed]);
  return { socket, text: () => text };
}

async function sendMany(address: string, count: number, request: string): Promise<Client[]> {
  return await Promise.all(Array.from({ length: count }, async () => await send(address, request)));
}

/** Waits for the text, or the end of the connection. */
async function receives({ socket, text }: Client, expected: string): Promise<void> {
  await eventually(() => expect(text().includes(expected) || socket.destroyed).toBe(true));
  expect(text()).toContain(expected);
}

async function isAnswered(address: string): Promise<void> {
  await receives(await send(address, quick), 'done');
}

async function finishes(client: Client): Promise<void> {
  const { localAddress, localPort } = client.socket;
  begun.get(`${localAddress}:${localPort}`)?.end('last');
  await receives(client, 'last');
}

test.each([
  ['send no body', withoutBody],
  ['are answered slowly', slow],
])('requests of two strangers that %s take the places of nobody else', async (_, request) => {
  const reader = await send(quiet, slow);
  for (const address of strangers) await sendMany(address, 256, request);
  await isAnswered(quiet);
  await isAnswered('127.0.0.4');
  await finishes(reader);
});

test('a stranger closes requests without a body, also of its own, before one that is answered', async () => {
  const readers = await sendMany(quiet, 40, slow);
  for (let host = 2; host < 18; host += 1) await sendMany(`127.0.0.${host}`, 30, withoutBody);
  await Promise.all(readers.map(finishes));
});

test('of the requests of a crowded address, the youngest gives its place to another address', async () => {
  const early: Client[] = [];
  for (const address of strangers) early.push(...(await sendMany(address, 128, slow)));
  for (const address of strangers) await sendMany(address, 128, slow);
  for (let host = 4; host < 14; host += 1) await send(`127.0.0.${host}`, slow);
  await Promise.all(early.map(finishes));
});

test('a connection that waits for its next request stays, while others have more', async () => {
  const kept = await send(quiet, quick);
  await receives(kept, 'done');
  for (const address of strangers) await sendMany(address, 270, withoutBody);
  kept.socket.write(quick.replace('GET /', 'GET /slow'));
  await receives(kept, 'first');
});
