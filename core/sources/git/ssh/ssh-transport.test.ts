import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import type { ServerChannel } from 'ssh2';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TestRepository } from '../../../../deploy/local/git/create-repository.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type Execute, FakeSSHServer } from '../../../../test/helpers/fake-ssh-server.ts';
import { defaultLimits } from '../../../content/index.ts';
import { readTree } from '../read-tree.ts';
import { checkOut } from '../repository.ts';
import { parsePrivateKey } from './private-key.ts';
import { SSHTransport } from './ssh-transport.ts';

/** Servers that do what none should: each ends in one clear error, and no connection is left. */
let root: string;
let first: string;
let head: string;
const ends: (() => Promise<void>)[] = [];
const { privateKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rukpak-git-'));
  const repository = await TestRepository.create(root, 'combo');
  first = await repository.commit({ files: { 'a.yaml': 'first' } });
  head = await repository.commit({ files: { 'a.yaml': 'head' }, annotatedTag: 'v1' });
});

afterAll(async () => await rm(root, { recursive: true, force: true }));

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

interface Fetch {
  readonly port: number;
  readonly commit?: string;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  readonly timeouts?: Partial<typeof patient>;
}

/** Milliseconds, for what comes in the end. */
const patient = { connect: 120_000, handshake: 120_000, idle: 120_000 };
const impatient = { idle: 200 };

/** The files of the fetched commit, or the error that the Bundle ends with. */
async function fetchFrom({ port, commit, maxBytes = 1024 * 1024, signal, timeouts }: Fetch) {
  const transport = new SSHTransport({
    key: await parsePrivateKey(pem, undefined),
    secretName: 's',
    hostKeys: undefined,
    address: { protocol: 'ssh', user: 'git', host: '127.0.0.1', port, path: join(root, 'combo') },
    timeouts: { ...patient, ...timeouts },
    maxBytes,
    signal: signal ?? AbortSignal.timeout(120_000),
  });
  try {
    const ref = commit === undefined ? { branch: 'main' } : { commit };
    const { files } = await readTree(
      await checkOut(ref, transport, {
        repository: 'ssh',
        limits: defaultLimits,
      }),
      '',
      defaultLimits,
    );
    return Object.fromEntries(
      [...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]),
    );
  } catch (error) {
    const { name, message } = transport.failure ?? (error as Error);
    return `${name}: ${message}`;
  } finally {
    await transport.close();
  }
}

async function aServer(execute: Execute): Promise<FakeSSHServer> {
  const server = await FakeSSHServer.start(execute);
  ends.push(async () => {
    await eventually(() => expect(server.connections).toBe(0));
    await server.stop();
  });
  return server;
}

/** A server that is none of SSH. */
async function aTcpServer(serve: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    socket.resume();
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    await eventually(() => expect(open.size).toBe(0));
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The real git, with something done to what it sends. */
function uploadPack(channel: ServerChannel, change = new Transform({ transform: pass })): void {
  const git = spawn('git', ['upload-pack', join(root, 'combo')]);
  git.on('exit', (code) => {
    channel.exit(code ?? 1);
    channel.end();
  });
  git.stdin.on('error', () => undefined);
  channel.pipe(git.stdin);
  git.stdout.pipe(change).pipe(channel, { end: false });
}

function pass(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
  done(null, chunk);
}

describe('before anyone is let in', () => {
  test('silence', async () => {
    const port = await aTcpServer(() => undefined);
    expect(await fetchFrom({ port, timeouts: impatient })).toBe(
      `Error: ssh: the server was silent for 0.2 seconds`,
    );
  });

  test('a byte now and then', async () => {
    const port = await aTcpServer((socket) => {
      const timer = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await fetchFrom({ port, timeouts: { handshake: 300 } })).toBe(
      `Error: ssh: handshake failed: the server did not let us in within 0.3 seconds`,
    );
  });

  test('garbage', async () => {
    const port = await aTcpServer((socket) => socket.end(Buffer.alloc(100_000, 0x41)));
    expect(await fetchFrom({ port })).toMatch(/^Error: ssh: /);
  });

  test('garbage after the greeting', async () => {
    const port = await aTcpServer((socket) => {
      socket.write('SSH-2.0-x\r\n');
      socket.write(Buffer.alloc(100_000, 0xff));
    });
    expect(await fetchFrom({ port })).toMatch(/^Error: ssh: /);
  });

  test('endless lines', async () => {
    const port = await aTcpServer((socket) => {
      const more = (): void => {
        while (socket.writable && socket.write('hello\r\n'.repeat(1000)));
      };
      socket.on('drain', more);
      more();
    });
    expect(await fetchFrom({ port })).toMatch(/^Error: ssh: /);
  });

  test('a closed door', async () => {
    const port = await aTcpServer((socket) => socket.end());
    expect(await fetchFrom({ port })).toMatch(/^Error: ssh: .*(closed|lost)/);
  });

  test('a server that speaks HTTP', async () => {
    const port = await aTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await fetchFrom({ port })).toMatch(/^Error: ssh: /);
  });
});

describe('instead of refs', () => {
  test('silence', async () => {
    const { port } = await aServer(() => undefined);
    expect(await fetchFrom({ port, timeouts: impatient })).toBe(
      `Error: ssh: the server was silent for 0.2 seconds`,
    );
  });

  test('a greeting', async () => {
    const { port } = await aServer((channel) => {
      channel.write('Welcome!\r\nThere is \u001b[1mno shell\u001b[0m here.\n');
      channel.exit(0);
      channel.end();
    });
    expect(await fetchFrom({ port })).toBe(
      `Error: the server does not speak git's protocol, it says: Welcome! There is [1mno shell [0m here.`,
    );
  });

  test.each([
    ['ERROR: Repository not found.', 'repository not found'],
    ["fatal: '/x' does not appear to be a git repository", 'repository not found'],
    ['ERROR: The project you were looking for could not be found.', 'repository not found'],
    ['FATAL: R any x git DENIED by fallthru', 'repository not found'],
    ['Your account\nis suspended.', 'the server says: Your account is suspended.'],
    ['', 'the server sent no refs'],
  ])('%j', async (said, message) => {
    const { port } = await aServer((channel) => {
      channel.stderr.write(said);
      channel.exit(1);
      channel.end();
    });
    expect(await fetchFrom({ port })).toBe(`Error: ${message}`);
  });

  test('an error in git’s protocol', async () => {
    const { port } = await aServer((channel) => {
      channel.write('001dERR you may not read this');
      channel.exit(1);
      channel.end();
    });
    expect(await fetchFrom({ port })).toBe(`Error: the server says: you may not read this`);
  });

  test('endless refs', async () => {
    const line = `0040${'1'.repeat(40)} refs/heads/${'b'.repeat(7)}\n`;
    const { port } = await aServer((channel) => {
      const more = (): void => {
        while (channel.writable && channel.write(line.repeat(500)));
      };
      channel.on('drain', more);
      more();
    });
    expect(await fetchFrom({ port })).toBe(
      `TerminalError: the repository sends more than the limit of 1048576 bytes (--max-content-bytes)`,
    );
  });

  test('a connection that is cut', async () => {
    const server = await aServer((channel) => {
      channel.write('00');
      setTimeout(() => server.cut(), 50);
    });
    expect(await fetchFrom(server)).toBe(`Error: ssh: the server closed the connection too early`);
  });
});

describe('instead of the content', () => {
  /** Real refs; then something else. */
  function afterRefs(otherwise: (channel: ServerChannel) => void): Execute {
    return (channel) => {
      const refs = execFileSync('git', ['upload-pack', '--advertise-refs', join(root, 'combo')]);
      channel.write(refs);
      channel.once('data', () => otherwise(channel));
    };
  }

  test('silence', async () => {
    const { port } = await aServer(afterRefs(() => undefined));
    expect(await fetchFrom({ port, timeouts: impatient })).toBe(
      `Error: ssh: the server was silent for 0.2 seconds`,
    );
  });

  test('garbage', async () => {
    const { port } = await aServer(
      afterRefs((channel) => {
        channel.write(Buffer.alloc(5000, 0x7a));
        channel.exit(0);
        channel.end();
      }),
    );
    expect(await fetchFrom({ port })).toMatch(/^ParseError: /);
  });

  test('an error', async () => {
    const { port } = await aServer(
      afterRefs((channel) => {
        channel.write('000fERR go away0000');
        channel.exit(1);
        channel.end();
      }),
    );
    expect(await fetchFrom({ port })).toBe(
      `Error: the server sent no commit for remote ref "refs/heads/main"`,
    );
  });

  test('more than the limit', async () => {
    const data = Buffer.concat([Buffer.from('8004\u0001'), Buffer.alloc(32_767)]);
    const { port } = await aServer(
      afterRefs((channel) => {
        channel.write('0008NAK\n');
        const more = (): void => {
          while (channel.writable && channel.write(data));
        };
        channel.on('drain', more);
        more();
      }),
    );
    expect(await fetchFrom({ port })).toBe(
      'TerminalError: the repository sends more than the limit of 1048576 bytes (--max-content-bytes)',
    );
  });

  test('half of it', { tags: ['process'] }, async () => {
    let left = 300;
    const server = await aServer((channel) =>
      uploadPack(
        channel,
        new Transform({
          transform: (chunk: Buffer, _encoding, done) => {
            const part = chunk.subarray(0, left);
            left -= part.byteLength;
            if (left === 0) setTimeout(() => server.cut(), 50);
            done(null, part);
          },
        }),
      ),
    );
    expect(await fetchFrom(server)).toBe(`Error: ssh: the server closed the connection too early`);
  });
});

describe('what servers need not be able to do', { tags: ['process'] }, () => {
  /** A capability of the same length that nobody knows. */
  function without(capability: string): () => Transform {
    const unknown = 'x'.repeat(capability.length);
    return () =>
      new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          const text = chunk.toString('latin1').replaceAll(` ${capability} `, ` ${unknown} `);
          done(null, Buffer.from(text, 'latin1'));
        },
      });
  }

  test.each(['shallow', 'ofs-delta', 'multi_ack_detailed'])('%s', async (name) => {
    const change = without(name);
    const { port } = await aServer((channel) => uploadPack(channel, change()));
    expect(await fetchFrom({ port })).toEqual({ 'a.yaml': 'head' });
    expect(await fetchFrom({ port, commit: first })).toEqual({ 'a.yaml': 'first' });
    expect(await fetchFrom({ port, commit: head })).toEqual({ 'a.yaml': 'head' });
  });
});

test('an abort in the middle closes the connection', async () => {
  const stop = new AbortController();
  const { port } = await aServer(() => stop.abort(new Error('the Bundle is gone')));
  expect(await fetchFrom({ port, signal: stop.signal })).toBe(`Error: the Bundle is gone`);
});

test.each(['127.0.0.1', 'localhost', '::1', '127.1'])(
  'a server on this machine is not connected to where addresses are judged: %s',
  async (host) => {
    let connections = 0;
    const server = createServer(() => void (connections += 1)).listen(0, '127.0.0.1');
    ends.push(async () => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const transport = new SSHTransport({
      key: await parsePrivateKey(pem, undefined),
      secretName: 's',
      hostKeys: undefined,
      address: { protocol: 'ssh', user: 'git', host, port, path: 'combo' },
      addresses: {},
      maxBytes: 1024,
      signal: AbortSignal.timeout(120_000),
    });
    const asked = transport.request({ url: transport.url, method: 'GET' });
    await expect(asked).rejects.toThrow('has a private, loopback or other denied address');
    await transport.close();
    expect(connections).toBe(0);
  },
);
