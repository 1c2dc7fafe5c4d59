import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { GitSource } from '../../api/v1alpha1/bundle.ts';
import { fetchInWorkers } from '../../core/classes/index.ts';
import { TerminalError } from '../../core/errors.ts';
import { gitType } from '../../core/sources/index.ts';
import {
  type Certificates,
  generateCertificates,
} from '../../deploy/local/cluster/certificates.ts';
import { TestRepository } from '../../deploy/local/git/create-repository.ts';
import { type GitServer, startGitServer } from '../../deploy/local/git/git-server.ts';
import { ampleMemory } from '../helpers/ample-memory.ts';
import { ConnectProxy } from '../helpers/connect-proxy.ts';
import { FileServer } from '../helpers/file-server.ts';
import { fetchGit, type GitFetch, textOf } from '../helpers/git-fetch.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { aSourceContext } from '../helpers/source-context.ts';

/** What private git servers have: certificates of their own, proxies, and little of the protocol. */
let root: string;
let certificates: Certificates;
let server: GitServer;
let plain: GitServer;
let first: string;
const ends: (() => Promise<void>)[] = [];
const login = { username: 'me', password: 'pässword' };

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rukpak-git-'));
  const repository = await TestRepository.create(root, 'combo');
  first = await repository.commit({ files: { 'a.yaml': 'first' } });
  await repository.commit({ files: { 'a.yaml': 'head' } });
  const modular = await TestRepository.create(root, 'modular');
  await modular.commit({ files: { 'manifests/a.yaml': 'a', 'README.md': 'read me' } });
  await modular.commitSubmodule('vendor/lib');
  certificates = await generateCertificates();
  server = await startGitServer({ root, credentials: login, tls: certificates.server });
  plain = await startGitServer({ root });
});

afterAll(async () => {
  await server.close();
  await plain.close();
  await rm(root, { recursive: true, force: true });
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Changes = Omit<GitFetch, 'git'> & { readonly git?: Partial<GitSource> };

async function fetch({ git, ...others }: Changes = {}) {
  const repository = `${server.url}/combo`;
  return textOf(
    await fetchGit({ git: { repository, ref: { branch: 'main' }, ...git }, ...others }),
  );
}

async function failure(changes: Changes): Promise<Error> {
  return await fetch(changes).then(
    () => {
      throw new Error('it was fetched');
    },
    (error: Error) => error,
  );
}

/** Another server over HTTP, for as long as the test runs. */
async function aServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const other = createServer(answer);
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  ends.push(async () => {
    other.closeAllConnections();
    other.close();
    await once(other, 'close');
  });
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
}

describe('over HTTPS', () => {
  test('with a login and an authority from the Secret', async () => {
    const secret = { ...login, 'ca.crt': certificates.ca.cert };
    expect(await fetch({ secret })).toEqual({ 'a.yaml': 'head' });
  });

  test('an unknown authority is refused, and how to make it known is said', async () => {
    expect((await failure({ secret: login })).message).toBe(
      `bundle unpack git clone error: Get "${server.url}/combo/info/refs?service=git-upload-pack": x509: certificate signed by unknown authority: put its certificate into key "ca.crt" of the Secret that auth.secret names - `,
    );
  });

  test('another authority does not help', async () => {
    const { ca } = await generateCertificates();
    const { message } = await failure({ secret: { ...login, 'ca.crt': ca.cert } });
    expect(message).toContain('bundle unpack git clone error: Get "https://');
  });

  test('insecureSkipVerify takes any certificate', async () => {
    const git = { auth: { insecureSkipVerify: true } };
    expect(await fetch({ git, secret: login })).toEqual({ 'a.yaml': 'head' });
  });

  test('a wrong password', async () => {
    const secret = { ...login, password: 'wrong', 'ca.crt': certificates.ca.cert };
    expect((await failure({ secret })).message).toBe(
      'bundle unpack git clone error: authentication required - ',
    );
  });

  test('ca.crt that is none', async () => {
    expect((await failure({ secret: { ...login, 'ca.crt': 'x' } })).message).toBe(
      'configuring Auth error: key "ca.crt" of Secret "s" holds no certificate in PEM form',
    );
  });
});

describe('credentials', () => {
  test.each([
    [{ username: 'me' }, 'Basic bWU6'],
    [{ token: 'x' }, 'Basic Og=='],
    [() => ({ 'ca.crt': certificates.ca.cert }), undefined],
  ])('of Secret %o', async (secret, expected) => {
    const seen: (string | undefined)[] = [];
    const url = await aServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(403).end();
    });
    const data = (typeof secret === 'function' ? secret() : secret) as Record<string, string>;
    const { message } = await failure({ git: { repository: `${url}/x` }, secret: data });
    expect(message).toBe('bundle unpack git clone error: authorization failed - ');
    expect(seen).toEqual([expected]);
  });

  test('in the URL go to no other host, and into no message', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = await aServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(404).end();
    });
    const url = await aServer(({ url: path, headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(302, { location: `${elsewhere}${path}` }).end();
    });
    const repository = `${url.replace('://', '://me:hunter2@')}/x`;
    const { message } = await failure({ git: { repository } });
    expect(message).toBe('bundle unpack git clone error: repository not found - ');
    expect(seen).toEqual(['Basic bWU6aHVudGVyMg==', undefined]);
    const refused = await failure({
      git: { repository: 'http://me:hunter2@127.0.0.1:1/x' },
    });
    expect(refused.message).not.toContain('hunter2');
  });
});

describe('redirects', () => {
  test('to a server that is away do not show the signature in its address', async () => {
    const away = 'http://127.0.0.1:9/combo/info/refs';
    const location = `${away}?service=git-upload-pack&sig=hidden`;
    const url = await aServer((_request, response) => response.writeHead(302, { location }).end());
    expect((await failure({ git: { repository: `${url}/x` } })).message).toBe(
      `bundle unpack git clone error: Get "${away}": dial tcp 127.0.0.1:9: connect: connection refused - `,
    );
  });

  test('on from another server do not show the signature in its address', async () => {
    const second = await aServer((_request, response) =>
      response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    );
    const location = `${second}/y?service=git-upload-pack&sig=hidden`;
    const url = await aServer((_request, response) => response.writeHead(302, { location }).end());
    expect((await failure({ git: { repository: `${url}/x` } })).message).toBe(
      `bundle unpack git clone error: GET "${second}/y": refusing the redirect from http to file:// - `,
    );
  });

  test.each([
    ['file:///etc/passwd', 'refusing the redirect from http to file://'],
    ['http://[', 'redirects to an invalid address'],
    ['/again', 'more than 5 redirects'],
  ])('to %s', async (location, text) => {
    const url = await aServer((_request, response) => response.writeHead(302, { location }).end());
    expect((await failure({ git: { repository: `${url}/x` } })).message).toContain(text);
  });

  test('from https to http are refused: they would send all in the clear', async () => {
    const redirecting = await FileServer.start({ tls: certificates.server });
    ends.push(() => redirecting.stop());
    const path = '/combo/info/refs?service=git-upload-pack';
    redirecting.files.set(path, (_request, response) =>
      response.writeHead(302, { location: `${plain.url}${path}` }).end(),
    );
    const git = { repository: `${redirecting.url}/combo` };
    const secret = { 'ca.crt': certificates.ca.cert };
    expect((await failure({ git, secret })).message).toBe(
      `bundle unpack git clone error: GET "${redirecting.url}/combo/info/refs?service=git-upload-pack": refusing the redirect from https to http:// - `,
    );
  });
});

describe('through a proxy', () => {
  test('with what it must be told', async () => {
    const host = new URL(server.url).host;
    const proxy = await ConnectProxy.start({ route: () => host, credentials: login });
    ends.push(() => proxy.stop());
    const options = { proxy: { httpsProxy: proxy.address } };
    // Addresses of this machine are never asked of a proxy.
    const git = { repository: 'https://kubernetes/combo' };
    const secret = { ...login, 'ca.crt': certificates.ca.cert };
    expect(await fetch({ git, secret, options })).toEqual({ 'a.yaml': 'head' });
    expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT kubernetes:443']));
  });

  test('from a process of its own', async () => {
    const host = new URL(server.url).host;
    const proxy = await ConnectProxy.start({ route: () => host });
    ends.push(() => proxy.stop());
    const settings = { proxy: { httpsProxy: proxy.address } };
    const module = new URL('../../core/sources/git/git-source.ts', import.meta.url);
    const logger = silentLogger;
    const memory = ampleMemory();
    const source = fetchInWorkers({ module, source: gitType, settings, size: 1, memory, logger });
    ends.push(() => source.close());
    const git = {
      repository: 'https://kubernetes/combo',
      ref: { branch: 'main' },
      auth: { secret: { name: 's' } },
    };
    const keys = { ...login, 'ca.crt': certificates.ca.cert };
    const data = new Map(Object.entries(keys).map(([key, text]) => [key, Buffer.from(text)]));
    const secrets = { read: async () => ({ type: 'Opaque', data }) };
    const fetched = await source.fetch({ type: 'git', git }, aSourceContext({ secrets }));
    expect(textOf(fetched)).toEqual({ 'a.yaml': 'head' });
    expect(proxy.seen).not.toEqual([]);
  });

  test('that refuses', async () => {
    const proxy = await ConnectProxy.start({ credentials: login });
    ends.push(() => proxy.stop());
    const options = { proxy: { httpsProxy: proxy.address.replace('me:', 'you:') } };
    const git = { repository: 'https://git.example/x' };
    expect((await failure({ git, options })).message).toContain('the proxy answered 407');
  });
});

describe('servers that can do little', () => {
  /** The real server, with something done to what it sends. */
  async function changed(change: (body: Buffer) => Buffer): Promise<string> {
    return await aServer((wanted, response) => {
      const { method, headers, url: path } = wanted;
      const { 'git-protocol': _, ...others } = headers;
      const forwarded = request(`${plain.url}${path}`, { method, headers: others }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const { 'content-length': __, 'transfer-encoding': ___, ...kept } = answer.headers;
          response.writeHead(answer.statusCode ?? 500, kept);
          response.end(change(Buffer.concat(chunks)));
        });
      });
      wanted.pipe(forwarded);
    });
  }

  test.each(['main', 'first'])('%s of one that always sends the whole history', async (what) => {
    const url = await changed((body) =>
      Buffer.from(body.toString('latin1').replace(' shallow ', ' shall0w '), 'latin1'),
    );
    const ref = what === 'main' ? { branch: 'main' } : { commit: first };
    const git = { repository: `${url}/combo`, ref };
    expect(await fetch({ git })).toEqual({ 'a.yaml': what === 'main' ? 'head' : 'first' });
  });

  test('one that speaks no smart HTTP', async () => {
    const url = await aServer((_request, response) => {
      response.end(`${first}\trefs/heads/main\n`);
    });
    expect((await failure({ git: { repository: `${url}/x` } })).message).toBe(
      "bundle unpack git clone error: the server does not speak git's smart HTTP protocol: the address is not a repository's, or the server is too old - ",
    );
  });

  test('one that cuts its answer off', async () => {
    const url = await aServer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/x-git-upload-pack-advertisement',
        'content-length': 1000,
      });
      response.write('001e# service=git-upload-pack\n');
      setTimeout(() => response.destroy(), 50);
    });
    expect((await failure({ git: { repository: `${url}/x` } })).message).toBe(
      `bundle unpack git clone error: Get "${url}/x/info/refs?service=git-upload-pack": the server closed the connection too early - `,
    );
  });

  test('one that answers nonsense', async () => {
    const url = await aServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
      response.end('000dnonsense\n');
    });
    expect((await failure({ git: { repository: `${url}/x` } })).message).toMatch(
      /^bundle unpack git clone error: the server does not keep to git's protocol: /,
    );
  });
});

describe('submodules', () => {
  function modular(directory?: string): Changes {
    const place = directory === undefined ? {} : { directory };
    return { git: { repository: `${plain.url}/modular`, ...place } };
  }

  test.each([undefined, '.', 'vendor', 'vendor/lib', 'vendor/lib/deep'])(
    'are refused below %s',
    async (directory) => {
      expect(await failure(modular(directory))).toEqual(
        new TerminalError(
          '"vendor/lib" is a git submodule, which is not fetched: put its files into the repository',
        ),
      );
    },
  );

  test('elsewhere do not matter', async () => {
    expect(await fetch(modular('manifests'))).toEqual({ 'a.yaml': 'a' });
  });
});
