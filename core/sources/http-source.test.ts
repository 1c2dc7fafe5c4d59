import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HTTPSource } from '../../api/v1alpha1/bundle.ts';
import {
  type Certificates,
  generateCertificates,
} from '../../deploy/local/cluster/certificates.ts';
import { anArchive, checksumOf } from '../../test/helpers/archives.ts';
import { ConnectProxy } from '../../test/helpers/connect-proxy.ts';
import { FileServer } from '../../test/helpers/file-server.ts';
import { aSourceContext } from '../../test/helpers/source-context.ts';
import { defaultLimits } from '../content/index.ts';
import type { SourceContext, SourceResult } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';
import { createHttpSource } from './http-source.ts';

let server: FileServer;
let guarded: FileServer;
let certificates: Certificates;
let archive: Buffer;
const user = { username: 'alice', password: 'p@ss:word' };

beforeAll(async () => {
  certificates = await generateCertificates();
  archive = await anArchive({ 'manifests/cm.yaml': 'kind: ConfigMap' });
});

beforeEach(async () => {
  server = await FileServer.start();
  guarded = await FileServer.start({ tls: certificates.server, user });
  for (const { files } of [server, guarded]) files.set('/b.tgz', archive);
});

afterEach(async () => {
  await server.stop();
  await guarded.stop();
});

async function get(
  http: HTTPSource,
  changes: Partial<SourceContext> = {},
  source = createHttpSource(),
): Promise<SourceResult> {
  return await source.fetch({ type: 'http', http }, aSourceContext(changes));
}

async function failure(...wanted: Parameters<typeof get>): Promise<Error> {
  const outcome: unknown = await get(...wanted).catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error('the fetch did not fail');
}

function withSecret(data: Readonly<Record<string, string>>): Partial<SourceContext> {
  const values = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const);
  const content = { type: 'Opaque', data: new Map(values) };
  return { secrets: { read: async (name) => (name === 'robot' ? content : undefined) } };
}

const auth = { secret: { name: 'robot' } };

describe('an archive', () => {
  test('is unpacked with any content type, and pinned to the digest of its bytes', async () => {
    const { files, resolvedSource } = await get({ url: `${server.url}/b.tgz` });
    expect([...files.files.keys()]).toEqual(['manifests/cm.yaml']);
    expect(resolvedSource).toEqual({
      type: 'http',
      http: { url: `${server.url}/b.tgz`, checksum: checksumOf(archive) },
    });
    expect(server.seen).toHaveLength(1);
  });

  test('has the digest of all bytes, also of those behind its end', async () => {
    const longer = Buffer.concat([archive, Buffer.alloc(300_000)]);
    server.files.set('/b.tgz', longer);
    const { resolvedSource } = await get({ url: `${server.url}/b.tgz` });
    expect(resolvedSource.http?.checksum).toBe(checksumOf(longer));
  });

  test('must have the checksum that is given', async () => {
    const url = `${server.url}/b.tgz`;
    const checksum = checksumOf(archive);
    expect((await get({ url, checksum })).resolvedSource.http).toEqual({ url, checksum });
    const other = checksumOf(Buffer.from('other'));
    const error = await failure({ url, checksum: other });
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toBe(
      `GET ${url}: the content has the digest ${checksum}, but ${other} is expected: put the expected content back to this URL, or make another Bundle for the new one`,
    );
  });

  test.each([
    ['no gzip', Buffer.from('<html>not an archive</html>'), 'gzip: invalid header'],
    ['a short body', Buffer.from('short'), 'unexpected EOF'],
    ['an empty body', Buffer.alloc(0), 'unexpected EOF'],
    ['no tar', gzipSync('x'.repeat(2000)), /^error creating FS: /],
    ['an escaping name', undefined, /^error creating FS: archive has an entry that leaves/],
  ])('with invalid content is refused: %s', async (_what, body, text) => {
    const bytes = body ?? gzipSync(await escaping());
    server.files.set('/b.tgz', bytes);
    const url = `${server.url}/b.tgz`;
    // Without a checksum, or with another one, the server may have the content later.
    for (const checksum of [undefined, checksumOf(archive), checksumOf(bytes)]) {
      const error = await failure({ url, ...(checksum === undefined ? {} : { checksum }) });
      expect(error instanceof TerminalError).toBe(checksum === checksumOf(bytes));
      expect(error.message).toMatch(text);
      if (typeof text === 'string') expect(error.message).toBe(text);
    }
  });

  test('with a pointer of Git LFS is refused', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1\n`;
    server.files.set('/b.tgz', await anArchive({ 'a.yaml': pointer }));
    const { message } = await failure({ url: `${server.url}/b.tgz` });
    expect(message).toMatch(/^error creating FS: "a.yaml" is a pointer of Git LFS, /);
  });

  test('is unpacked after a wrong answer of its server', async () => {
    const url = `${server.url}/b.tgz`;
    const checksum = checksumOf(archive);
    server.files.set('/b.tgz', Buffer.from('<html>maintenance</html>'));
    expect(await failure({ url, checksum })).not.toBeInstanceOf(TerminalError);
    server.files.set('/b.tgz', archive);
    expect((await get({ url, checksum })).files.files.size).toBe(1);
  });

  test('is bounded, unpacked and packed', async () => {
    server.files.set('/b.tgz', await anArchive({ 'a.txt': Buffer.alloc(200_000) }));
    const limits = { ...defaultLimits, maxBytes: 100_000 };
    const url = `${server.url}/b.tgz`;
    expect((await failure({ url }, { limits })).message).toBe(
      'error creating FS: archive unpacks to more than the limit of 100000 bytes (--max-content-bytes)',
    );
    server.files.set('/b.tgz', Buffer.concat([archive, Buffer.alloc(2_000_000)]));
    expect((await failure({ url }, { limits })).message).toBe(
      `GET ${url}: the archive is larger than content of 100000 bytes can be (--max-content-bytes)`,
    );
  });
});

describe('the spec', () => {
  test('without its block is refused', async () => {
    const context = aSourceContext();
    await expect(createHttpSource().fetch({ type: 'http', upload: {} }, context)).rejects.toThrow(
      new TerminalError('bundle source http configuration is unset'),
    );
  });

  test.each(['', 'nonsense', 'ftp://a.example/x', 'file:///etc/passwd', '/etc/passwd'])(
    'with the URL "%s" is refused',
    async (url) => {
      expect(await failure({ url })).toEqual(
        new TerminalError('bundle source http.url must be a URL with https:// or http://'),
      );
    },
  );

  test('holds no credentials, and they are not repeated', async () => {
    const error = await failure({ url: 'https://me:secret@a.example/x' });
    expect(error).toBeInstanceOf(TerminalError);
    expect(error.message).toContain('bundle source http.url must not hold credentials');
    expect(error.message).not.toContain('secret@');
  });
});

describe('a server', () => {
  test('that answers with another status is tried again', async () => {
    const error = await failure({ url: `${server.url}/none.tgz` });
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toBe(`GET ${server.url}/none.tgz: unexpected status "404 Not Found"`);
    server.files.set('/b.tgz', (_, response) => void response.writeHead(503, 'Come Later').end());
    expect((await failure({ url: `${server.url}/b.tgz` })).message).toBe(
      `GET ${server.url}/b.tgz: unexpected status "503 Come Later"`,
    );
  });

  test('that says more than a phrase about its status is quoted by the number alone', async () => {
    const talk = 'so '.repeat(4000);
    server.files.set('/b.tgz', (_, response) => void response.writeHead(500, talk).end());
    expect((await failure({ url: `${server.url}/b.tgz` })).message).toBe(
      `GET ${server.url}/b.tgz: unexpected status "500"`,
    );
  });

  test('that is away is tried again', async () => {
    const url = `${server.url}/b.tgz`;
    const { host } = new URL(url);
    await server.stop();
    const error = await failure({ url });
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toBe(
      `GET ${url}: http request for bundle content failed: Get "${url}": dial tcp ${host}: connect: connection refused`,
    );
  });

  test('that never answers, or stops sending, is given up on', { tags: ['slow'] }, async () => {
    const url = `${server.url}/b.tgz`;
    const impatient = createHttpSource({ idleTimeout: 500 });
    server.files.set('/b.tgz', () => undefined);
    expect((await failure({ url }, {}, impatient)).message).toBe(
      `GET ${url}: http request for bundle content failed: Get "${url}": the server was silent for too long`,
    );
    server.files.set('/b.tgz', (_, response) => void response.write(archive.subarray(0, 20)));
    expect((await failure({ url }, {}, impatient)).message).toBe(
      `GET ${url}: reading the bundle content failed: the server was silent for too long`,
    );
  });

  test('that breaks off is tried again', async () => {
    const url = `${server.url}/b.tgz`;
    server.files.set('/b.tgz', (_, response) => {
      response.writeHead(200, { 'Content-Length': archive.length });
      response.write(archive.subarray(0, 20), () => response.destroy());
    });
    const error = await failure({ url });
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toBe(
      `GET ${url}: reading the bundle content failed: the server closed the connection too early`,
    );
  });

  test('is let go when the fetch is aborted', async () => {
    server.files.set('/b.tgz', () => undefined);
    const stop = new AbortController();
    const fetching = get({ url: `${server.url}/b.tgz` }, { signal: stop.signal });
    stop.abort(new Error('time is over'));
    await expect(fetching).rejects.toThrow('time is over');
  });
});

describe('the Secret', () => {
  const { username, password } = user;

  test('gives user and password, and the authority to trust', async () => {
    const secret = withSecret({ username, password, 'ca.crt': certificates.ca.cert });
    const { resolvedSource } = await get({ url: `${guarded.url}/b.tgz`, auth }, secret);
    expect(resolvedSource.http).toEqual({
      url: `${guarded.url}/b.tgz`,
      auth,
      checksum: checksumOf(archive),
    });
  });

  test('is needed by a server with its own authority, or no certificate is checked', async () => {
    const url = `${guarded.url}/b.tgz`;
    const secret = withSecret({ username, password });
    expect((await failure({ url, auth }, secret)).message).toBe(
      `GET ${url}: http request for bundle content failed: Get "${url}": x509: certificate signed by unknown authority: put its certificate into key "ca.crt" of the Secret that auth.secret names`,
    );
    await get({ url, auth: { ...auth, insecureSkipVerify: true } }, secret);
    const noUser = withSecret({ 'ca.crt': certificates.ca.cert });
    expect((await failure({ url, auth }, noUser)).message).toBe(
      `GET ${url}: unexpected status "401 Unauthorized"`,
    );
    expect(guarded.seen.at(-1)?.authorization).toBeUndefined();
  });

  test('may be missing, or be wrong, for a while', async () => {
    const url = `${guarded.url}/b.tgz`;
    expect(await failure({ url, auth })).toEqual(new Error('Secret "robot" not found'));
    expect(await failure({ url, auth }, withSecret({ 'ca.crt': 'x' }))).toEqual(
      new Error('Secret "robot": its key ca.crt holds no PEM certificate'),
    );
    expect(server.seen).toEqual([]);
  });
});

describe('a redirect', () => {
  function redirect(from: FileServer, location: string): void {
    from.files.set('/moved', (_, response) => void response.writeHead(302, { location }).end());
  }

  test('is followed, without credentials where it leads elsewhere', async () => {
    redirect(server, '/b.tgz');
    const secret = withSecret(user);
    await get({ url: `${server.url}/moved`, auth }, secret);
    expect(server.seen.map(({ authorization }) => authorization?.slice(0, 6))).toEqual([
      'Basic ',
      'Basic ',
    ]);
    const other = await FileServer.start();
    redirect(server, `http://evil:pw@${new URL(other.url).host}/b.tgz`);
    other.files.set('/b.tgz', archive);
    const { resolvedSource } = await get({ url: `${server.url}/moved`, auth }, secret);
    expect(resolvedSource.http?.url).toBe(`${server.url}/moved`);
    expect(other.seen).toEqual([{ path: '/b.tgz', authorization: undefined }]);
    await other.stop();
  });

  test('from https to http is refused, and one to other protocols', async () => {
    redirect(guarded, `${server.url}/b.tgz`);
    const secret = withSecret({ ...user, 'ca.crt': certificates.ca.cert });
    const url = `${guarded.url}/moved`;
    const prefix = `GET ${url}: http request for bundle content failed: Get "${url}": refusing the redirect from https:// to`;
    expect((await failure({ url, auth }, secret)).message).toBe(`${prefix} http://`);
    redirect(guarded, 'file:///etc/passwd');
    expect((await failure({ url, auth }, secret)).message).toBe(`${prefix} file://`);
    expect(server.seen).toEqual([]);
  });

  test('in circles ends', async () => {
    redirect(server, '/moved');
    const url = `${server.url}/moved`;
    expect((await failure({ url })).message).toBe(
      `GET ${url}: http request for bundle content failed: Get "${url}": stopped after 10 redirects`,
    );
  });

  test('to a server that is away does not show the signature in its query', async () => {
    redirect(server, 'http://127.0.0.1:1/b.tgz?signature=secret');
    const { message } = await failure({ url: `${server.url}/moved` });
    expect(message).toContain('Get "http://127.0.0.1:1/b.tgz": dial tcp 127.0.0.1:1');
    expect(message).not.toContain('secret');
  });
});

describe('a proxy', () => {
  test('is used where one is set', async () => {
    const proxy = await ConnectProxy.start({ route: () => new URL(server.url).host });
    const source = createHttpSource({ proxy: { httpProxy: proxy.address } });
    const { files } = await get({ url: 'http://far.example/b.tgz' }, {}, source);
    expect(files.files.size).toBe(1);
    expect(proxy.seen).toEqual(['GET http://far.example/b.tgz']);
    await proxy.stop();
  });
});

async function escaping(): Promise<Uint8Array> {
  const { Header } = await import('tar');
  const block = Buffer.alloc(512);
  new Header({ path: '../evil', mode: 0o644, size: 0, type: 'File', mtime: new Date(0) }).encode(
    block,
  );
  return Buffer.concat([block, Buffer.alloc(1024)]);
}
