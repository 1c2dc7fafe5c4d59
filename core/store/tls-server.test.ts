import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { generate } from 'selfsigned';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueClientCertificate } from '../../test/helpers/client-certificate.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import {
  ClientAuthorities,
  createTlsServer,
  issueCertificateAuthority,
  type KeyPair,
  type TlsFiles,
} from '../platform/certificates/index.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { callerOf } from './authorize.ts';

let directory: string;
let files: { readonly certFile: string; readonly keyFile: string };
let stop: AbortController;
let servers: Server[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tls-server-'));
  files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  stop = new AbortController();
  servers = [];
});

afterEach(async () => {
  stop.abort();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(directory, { recursive: true });
});

/** Answers who it takes the caller for. */
async function start(tls: Partial<TlsFiles> = {}, clock: Clock = systemClock): Promise<string> {
  const server = await createTlsServer(
    { ...files, ...tls },
    {
      app: (request, response) => void response.end(JSON.stringify(callerOf(request) ?? null)),
      clock,
      logger: silentLogger,
      signal: stop.signal,
    },
  );
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const certificates = new Map<string, ReturnType<typeof generate>>();

/** The same certificate for the same name. */
async function writeCertificate(commonName: string): Promise<void> {
  const made =
    certificates.get(commonName) ??
    generate([{ name: 'commonName', value: commonName }], { keyType: 'ec' });
  certificates.set(commonName, made);
  const pems = await made;
  await writeFile(files.certFile, pems.cert);
  await writeFile(files.keyFile, pems.private);
}

describe('the certificate', () => {
  it('takes up new files without a restart, and keeps the old ones while new are broken', async () => {
    await writeCertificate('first');
    const sleepers: { wake: () => void }[] = [];
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      sleep: (_, signal) =>
        new Promise((resolve, reject) => {
          sleepers.push({ wake: resolve });
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    };
    const turn = async (): Promise<void> => {
      const turns = sleepers.length;
      sleepers.at(-1)?.wake();
      while (sleepers.length === turns) await new Promise((resolve) => setImmediate(resolve));
    };
    const url = await start({}, clock);
    expect(await servedName(url)).toBe('first');
    await writeFile(files.keyFile, 'half written');
    await turn();
    expect(await servedName(url)).toBe('first');
    await writeCertificate('second');
    await turn();
    expect(await servedName(url)).toBe('second');
  });

  it('does not start with a key of another certificate', async () => {
    await writeCertificate('first');
    const key = await readFile(files.keyFile);
    await writeCertificate('second');
    await writeFile(files.keyFile, key);
    await expect(start()).rejects.toThrow(/tls\.crt" and the key ".*cannot be used/);
  });

  it.each([
    ['certFile', 'the certificate is empty'],
    ['keyFile', 'the key is empty'],
  ] as const)('does not start with an empty %s', async (file, problem) => {
    await writeCertificate('first');
    await writeFile(files[file], '\n');
    await expect(start()).rejects.toThrow(`cannot be used: ${problem}`);
  });
});

it('a client that begins no TLS is dropped after 5 s', {
  tags: ['slow'],
}, async () => {
  await writeCertificate('first');
  const { hostname, port } = new URL(await start());
  const socket = connect(Number(port), hostname);
  const started = performance.now();
  socket.resume();
  await once(socket, 'close');
  expect(performance.now() - started).toBeGreaterThan(4_500);
});

describe('client certificates', () => {
  let ca: KeyPair;
  let authorities: ClientAuthorities;

  beforeEach(async () => {
    await writeCertificate('server');
    ca = await issueCertificateAuthority(validFor(1));
    authorities = new ClientAuthorities();
    authorities.set(ca.certificate);
  });

  function validFor(hours: number): { notBefore: number; notAfter: number } {
    const notAfter = Date.now() + hours * 3_600_000;
    return { notBefore: Math.min(Date.now(), notAfter) - 3_600_000, notAfter };
  }

  interface Asked {
    readonly certificate?: KeyPair;
    readonly token?: string;
  }

  async function ask(url: string, { certificate, token }: Asked): Promise<unknown> {
    const identity = certificate && { cert: certificate.certificate, key: certificate.privateKey };
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false, ...identity } });
    try {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return await (await request(url, { dispatcher, headers })).body.json();
    } finally {
      await dispatcher.destroy();
    }
  }

  it('name the user by CN and the groups by O, and go before a token', async () => {
    const url = await start({ clientAuthorities: authorities });
    const subject = { user: 'jane', groups: ['dev', 'ops'] };
    const certificate = await issueClientCertificate(ca, subject, validFor(1));
    const user = { username: 'jane', groups: ['dev', 'ops', 'system:authenticated'] };
    expect(await ask(url, { certificate })).toEqual({ user });
    expect(await ask(url, { certificate, token: 't' })).toEqual({ user });
    expect(await ask(url, { token: 't' })).toEqual({ token: 't' });
    expect(await ask(url, {})).toBeNull();
  });

  it('that are worth nothing are as good as none', async () => {
    const url = await start({ clientAuthorities: authorities });
    const jane = { user: 'jane', groups: [] };
    const other = await issueCertificateAuthority(validFor(1));
    for (const certificate of [
      await issueClientCertificate(other, jane, validFor(1)),
      await issueClientCertificate(ca, jane, validFor(-0.5)),
      await issueClientCertificate(ca, { user: '', groups: ['dev'] }, validFor(1)),
      await issueClientCertificate(ca, jane, { ...validFor(1), use: 'serverAuth' }),
    ]) {
      expect(await ask(url, { certificate })).toBeNull();
      expect(await ask(url, { certificate, token: 't' })).toEqual({ token: 't' });
    }
  });

  it('count for new connections as the authorities change', async () => {
    const none = new ClientAuthorities();
    const url = await start({ clientAuthorities: none });
    const certificate = await issueClientCertificate(ca, { user: 'jane', groups: [] }, validFor(1));
    expect(await ask(url, { certificate })).toBeNull();
    none.set(ca.certificate);
    expect(await ask(url, { certificate })).toMatchObject({ user: { username: 'jane' } });
    expect(() => none.set('no certificate')).toThrow('holds no certificate in PEM form');
    expect(await ask(url, { certificate })).toMatchObject({ user: { username: 'jane' } });
    none.set(undefined);
    expect(await ask(url, { certificate })).toBeNull();
  });

  it('are not asked for where nobody could have issued one', async () => {
    const url = await start();
    const certificate = await issueClientCertificate(ca, { user: 'jane', groups: [] }, validFor(1));
    expect(await ask(url, { certificate })).toBeNull();
  });

  it('are nothing without TLS', async () => {
    const server = createServer((request, response) => {
      response.end(JSON.stringify(callerOf(request) ?? null));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await ask(url, { token: 't' })).toEqual({ token: 't' });
    expect(await ask(url, {})).toBeNull();
    server.close();
  });
});

async function servedName(url: string): Promise<string> {
  const socket = tlsConnect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    rejectUnauthorized: false,
  });
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve).once('error', reject);
  });
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}
