import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { request } from 'undici';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { generateCertificates } from '../../../deploy/local/cluster/certificates.ts';
import { ConnectProxy, type ConnectProxyOptions } from '../../../test/helpers/connect-proxy.ts';
import { createDispatcher, type DispatcherOptions } from './dispatcher.ts';
import { proxyProblem } from './failed-request.ts';

type Certificates = Awaited<ReturnType<typeof generateCertificates>>;

let certificates: Certificates;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  certificates = await generateCertificates();
});

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function listen(server: Server): Promise<string> {
  server.on('request', ({ headers }, response) => {
    response.end(`${headers.host} ${headers['proxy-authorization'] ?? ''}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function aProxy(options: ConnectProxyOptions): Promise<ConnectProxy> {
  const proxy = await ConnectProxy.start(options);
  ends.push(() => proxy.stop());
  return proxy;
}

async function get(address: string, options: Partial<DispatcherOptions>): Promise<string> {
  const dispatcher = createDispatcher({
    connectTimeout: 120_000,
    idleTimeout: 120_000,
    ...options,
  });
  ends.push(() => dispatcher.destroy());
  const { body } = await request(address, { dispatcher });
  return await body.text();
}

function proxies(address: string, noProxy = ''): Partial<DispatcherOptions> {
  return { proxy: { httpProxy: address, httpsProxy: address, noProxy } };
}

/** Microseconds of processor time. */
async function costOf(work: () => Promise<unknown> | void): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < 10; count += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

test('an authority of its own costs a connection little: Node’s hundreds are not read again', async () => {
  const caCertificates = [certificates.ca.cert];
  const refused = async () => {
    await expect(get('https://127.0.0.1:1/', { caCertificates })).rejects.toThrow('ECONNREFUSED');
  };
  const ca = getCACertificates('default');
  await refused();
  const cost = await costOf(() => void createSecureContext({ ca }));
  expect(await costOf(refused)).toBeLessThan(cost / 2);
});

const credentials = { username: 'alice', password: 'p@ss word' };

describe('through a proxy', () => {
  test('plain HTTP is forwarded', async () => {
    const server = await listen(createServer());
    const proxy = await aProxy({ route: () => server, credentials });
    const answer = await get('http://far.example/path?x=1', proxies(proxy.address));
    expect(answer).toContain('far.example');
    expect(proxy.seen).toEqual(['GET http://far.example/path?x=1']);
  });

  test('HTTPS is tunnelled, and sees nothing of the proxy’s credentials', async () => {
    const server = await listen(createTlsServer(certificates.server));
    const proxy = await aProxy({ route: () => server, credentials });
    const caCertificates = [certificates.ca.cert];
    const options = { ...proxies(proxy.address), caCertificates };
    expect(await get('https://kubernetes/', options)).toBe('kubernetes ');
    expect(proxy.seen).toEqual(['CONNECT kubernetes:443']);
  });

  test('the server’s certificate is checked for its own name', async () => {
    const server = await listen(createTlsServer(certificates.server));
    const proxy = await aProxy({ route: () => server });
    const caCertificates = [certificates.ca.cert];
    const options = { ...proxies(proxy.address), caCertificates };
    await expect(get('https://other.example/', options)).rejects.toThrow(
      /does not match certificate/,
    );
    await expect(get('https://kubernetes/', proxies(proxy.address))).rejects.toThrow(/certificate/);
    const unchecked = { ...proxies(proxy.address), insecureSkipVerify: true };
    expect(await get('https://other.example/', unchecked)).toBe('other.example ');
  });

  test.each(['http', 'https'])('%s: the wrong credentials are told', async (scheme) => {
    const proxy = await aProxy({ credentials });
    const wrong = proxy.address.replace('alice', 'bob');
    const refused = await get(`${scheme}://far.example/`, proxies(wrong)).catch(proxyProblem);
    expect(refused).toBe(
      'the proxy answered 407 Proxy Authentication Required: its address must hold the right credentials',
    );
  });

  test('HTTPS: a server that the proxy cannot reach is told', async () => {
    const proxy = await aProxy({ route: () => '127.0.0.1:1' });
    const refused = await get('https://far.example/', proxies(proxy.address)).catch(proxyProblem);
    expect(refused).toBe('the proxy answered 502 to the request for a connection');
  });

  test.each(['http', 'https'])('%s: a proxy that never answers is given up on', async (scheme) => {
    const silent = createTcpServer((socket) => socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    ends.push(async () => void silent.close());
    const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const options = { ...proxies(address), idleTimeout: 300 };
    await expect(get(`${scheme}://far.example/`, options)).rejects.toThrow(/[Tt]imeout/);
  });
});

describe('without a proxy', () => {
  test('are this machine and those that NO_PROXY lists', async () => {
    const server = await listen(createTlsServer(certificates.server));
    const proxy = await aProxy({ route: () => server });
    const options = { ...proxies(proxy.address), caCertificates: [certificates.ca.cert] };
    expect(await get(`https://${server}/`, options)).toBe(`${server} `);
    const unreachable = get('https://kubernetes.invalid/', proxies(proxy.address, '.invalid'));
    await expect(unreachable).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
    expect(proxy.seen).toEqual([]);
  });

  test('a server that asks for it is shown the client’s certificate', async () => {
    const { server, ca, admin } = certificates;
    const strict = { ...server, ca: ca.cert, requestCert: true, rejectUnauthorized: true };
    const host = await listen(createTlsServer(strict));
    const options = { caCertificates: [ca.cert] };
    expect(await get(`https://${host}/`, { ...options, clientCertificate: admin })).toBe(
      `${host} `,
    );
    await expect(get(`https://${host}/`, options)).rejects.toThrow();
  });
});
