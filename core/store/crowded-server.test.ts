import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { RequestHandler } from 'express';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ContentServerFixture } from '../../test/helpers/content-server-fixture.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { aborted } from '../platform/clock.ts';

const stranger = '127.0.0.2';

let fixture: ContentServerFixture;

beforeEach(async () => {
  fixture = await ContentServerFixture.create();
});

afterEach(async () => {
  await fixture.remove();
});

/** Asks for the body as uploads do, and answers after its end. */
const receive: RequestHandler = (request, response, next) => {
  if (request.method !== 'PUT') return next();
  response.writeContinue();
  request.resume().once('end', () => response.status(201).end());
};

function begin(server: string, localAddress: string, options: object = {}) {
  const headers = { authorization: 'Bearer reader' };
  const url = `${server}/bundles/my-bundle.tgz`;
  const sent = request(url, { localAddress, agent: false, headers, ...options });
  onTestFinished(() => void sent.destroy());
  const answer = once(sent, 'response').then(([response]) => {
    (response as IncomingMessage).resume();
    return (response as IncomingMessage).statusCode;
  });
  answer.catch(() => undefined);
  return { sent, answer };
}

async function read(server: string, agent: Agent | false = false) {
  const { sent, answer } = begin(server, '127.0.0.1', { agent });
  sent.end();
  return await answer;
}

async function opened(server: string, localAddress: string): Promise<Socket> {
  const { hostname: host, port } = new URL(server);
  const socket = connect({ host, port: Number(port), localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
}

test('idle connections of strangers pile up no further, and end neither an upload nor a reader', {
  tags: ['slow'],
}, async () => {
  const server = await fixture.start({ handlers: [receive] });
  const agent = new Agent({ keepAlive: true });
  expect(await read(server, agent)).toBe(200);
  const headers = { authorization: 'Bearer reader', expect: '100-continue', 'content-length': 4 };
  const upload = begin(server, stranger, {
    method: 'PUT',
    path: '/uploads/my-bundle.tgz',
    headers,
  });
  const continued = vi.fn();
  upload.sent.on('continue', continued).flushHeaders();
  await eventually(() => expect(continued).toHaveBeenCalled());
  const strangers: Socket[] = [];
  for (const address of [stranger, '127.0.0.3', '127.0.0.4']) {
    const more = Array.from({ length: 270 }, async () => await opened(server, address));
    strangers.push(...(await Promise.all(more)));
  }
  const open = () => strangers.filter(({ closed }) => !closed).length;
  await eventually(() => expect(open()).toBeLessThanOrEqual(511));
  expect(await read(server)).toBe(200);
  expect(await read(server, agent)).toBe(200);
  upload.sent.end('body');
  expect(await upload.answer).toBe(201);
  for (const socket of strangers) socket.destroy();
  agent.destroy();
});

test('a stream of unknown tokens is refused at its address alone, and others are answered', async () => {
  const server = await fixture.start({
    reviewer: {
      review: async (caller, _, signal) => {
        if ('token' in caller && caller.token === 'reader') {
          return { authenticated: true, user: 'reader', allowed: true };
        }
        await aborted(signal);
        throw signal.reason;
      },
    },
  });
  const withToken = (token: number) => {
    const headers = { authorization: `Bearer ${token}` };
    const { sent, answer } = begin(server, stranger, { headers });
    sent.end();
    return { sent, answer };
  };
  const calls = Array.from({ length: 65 }, (_, token) => withToken(token));
  const first = await Promise.race(calls.map(({ answer }) => answer));
  expect(first).toBe(429);
  expect(await read(server)).toBe(200);
  for (const { sent } of calls) sent.destroy();
});
