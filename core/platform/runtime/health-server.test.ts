import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { HealthServer, type HealthServerOptions, parseBindAddress } from './health-server.ts';

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(options: Partial<HealthServerOptions> = {}) {
  const server = new HealthServer({ bindAddress: '127.0.0.1:0', logger: silentLogger, ...options });
  const abort = new AbortController();
  const running = server.run(abort.signal);
  stops.push(async () => {
    abort.abort();
    await running;
  });
  await server.ready();
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.address?.port}${path}`);
    return [response.status, await response.text()];
  };
  return { server, get, abort, running };
}

/** `fetch` would send another address. */
async function statusOf(server: HealthServer, path: string): Promise<number | undefined> {
  const wanted = request({ host: '127.0.0.1', port: server.address?.port, path, timeout: 120_000 });
  wanted.on('timeout', () => wanted.destroy(new Error(`no answer to ${path}`))).end();
  const [response] = (await once(wanted, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('HealthServer', () => {
  test('says ok', async () => {
    const { get } = await start({ readyChecks: { caches: async () => undefined } });
    expect(await get('/healthz')).toEqual([200, 'ok']);
    expect(await get('/readyz?verbose')).toEqual([200, 'ok']);
    expect((await get('/'))[0]).toBe(404);
  });

  test('answers an invalid address, and continues', async () => {
    const { server, get } = await start();
    for (const path of ['//', '///[', 'http://', 'http://a:99999/', '/%']) {
      const status = await statusOf(server, path);
      expect(status, path).toBe(404);
    }
    expect(await get('/healthz')).toEqual([200, 'ok']);
  });

  test('bounds its connections: a client that opens more loses some, and probes are answered', async () => {
    const { server, get } = await start();
    let open = 0;
    let closed = 0;
    for (let index = 0; index < 400; index += 1) {
      const socket = connect({ host: '127.0.0.1', port: server.address?.port ?? 0 });
      socket.on('connect', () => (open += 1)).on('error', () => undefined);
      socket.on('close', () => (closed += 1));
      stops.push(async () => void socket.destroy());
    }
    await eventually(() => expect(open).toBe(400));
    await eventually(() => expect(open - closed).toBeLessThanOrEqual(256));
    expect(await get('/healthz')).toEqual([200, 'ok']);
  });

  test('says which checks fail and why', async () => {
    let synced = false;
    const { get } = await start({
      healthChecks: { loop: () => undefined },
      readyChecks: {
        caches: () => {
          if (!synced) throw new Error('bundles: forbidden');
        },
        store: async () => await Promise.reject(new Error('disk is full')),
        ping: () => undefined,
      },
    });
    expect(await get('/readyz')).toEqual([
      500,
      '[-]caches failed: bundles: forbidden\n[-]store failed: disk is full\n',
    ]);
    expect(await get('/healthz')).toEqual([200, 'ok']);
    synced = true;
    expect(await get('/readyz')).toEqual([500, '[-]store failed: disk is full\n']);
  });

  test('stops although a client keeps its connection', async () => {
    const { get, abort, running, server } = await start();
    await get('/healthz');
    abort.abort();
    await running;
    await expect(fetch(`http://127.0.0.1:${server.address?.port}/healthz`)).rejects.toThrow();
  });

  test('is off with 0', async () => {
    const { server } = await start({ bindAddress: '0' });
    expect(server.address).toBeUndefined();
  });

  test('names the address that is taken', async () => {
    const { server } = await start();
    const bindAddress = `127.0.0.1:${server.address?.port}`;
    const second = new HealthServer({ bindAddress, logger: silentLogger });
    await expect(second.run(new AbortController().signal)).rejects.toThrow(
      `cannot listen on ${bindAddress}: listen EADDRINUSE`,
    );
  });
});

describe('parseBindAddress', () => {
  test.each([
    [':8081', { port: 8081 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['[::1]:8443', { host: '::1', port: 8443 }],
    ['0', undefined],
  ])('reads %s', (text, expected) => {
    expect(parseBindAddress(text)).toEqual(expected);
  });

  test.each(['', '8081', ':', ':65536', ':-1', ':80a', 'a b:80', '::1:80', '[]:80'])(
    'refuses %j',
    (text) => {
      expect(() => parseBindAddress(text)).toThrow('is not an address to listen on');
    },
  );
});
