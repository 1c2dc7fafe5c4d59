import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { Agent } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { downloadBinary, UnreachableError } from './download.ts';
import { obtainBinaries } from './obtain.ts';
import { OFFICIAL_HOSTS, releaseOf } from './releases.ts';

let dir: string;
let target: string;
let server: Server;
let base: string;
const files = new Map<string, string | Buffer>();
const dispatcher = new Agent();

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-download-'));
  await mkdir(join(dir, 'bin'));
  target = join(dir, 'bin', 'kwok');
  files.clear();
  server = createServer((request, response) => {
    const body = files.get(request.url ?? '');
    response.writeHead(body === undefined ? 404 : 200).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true });
});

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const signal = new AbortController().signal;
const download = (release: Parameters<typeof downloadBinary>[0]) =>
  downloadBinary(release, target, { dispatcher, signal });

const file = () => ({ kind: 'file', url: `${base}/b`, checksumUrl: `${base}/b.sha256` }) as const;
const asset = (member?: string) =>
  ({
    kind: 'asset',
    releaseUrl: `${base}/release`,
    asset: 'a',
    ...(member === undefined ? {} : { member }),
  }) as const;

function publish(content: string | Buffer, digest: string | null): void {
  files.set('/a', content);
  const assets = [{ name: 'a', browser_download_url: `${base}/a`, digest }];
  files.set('/release', JSON.stringify({ assets }));
}

test('a file whose checksum is right becomes an executable', async () => {
  files.set('/b', 'binary');
  files.set('/b.sha256', `${sha256('binary')}  b\n`);
  expect(await download(file())).toBe(true);
  expect(await readFile(target, 'utf8')).toBe('binary');
  expect((await stat(target)).mode & 0o777).toBe(0o755);
  expect(await readdir(join(dir, 'bin'))).toEqual(['kwok']);
});

test('a file whose checksum is wrong leaves nothing behind', async () => {
  files.set('/b', 'tampered');
  files.set('/b.sha256', sha256('binary'));
  await expect(download(file())).rejects.toThrow(
    `${base}/b has the sha256 ${sha256('tampered')}, but ${sha256('binary')} is published for it`,
  );
  expect(await readdir(join(dir, 'bin'))).toEqual([]);
});

test('what has no checksum, or none that is one, is not taken', async () => {
  files.set('/b', 'binary');
  expect(await download(file())).toBe(false);
  files.set('/b.sha256', '<html>not found</html>');
  expect(await download(file())).toBe(false);
  publish('binary', null);
  expect(await download(asset())).toBe(false);
  expect(await readdir(join(dir, 'bin'))).toEqual([]);
});

test('a binary is taken out of the archive that holds it', async () => {
  await mkdir(join(dir, 'folder'));
  await writeFile(join(dir, 'folder', 'kwok'), 'binary');
  await writeFile(join(dir, 'folder', 'other'), 'no');
  const archive = join(dir, 'archive.tgz');
  await create({ file: archive, cwd: dir, gzip: true }, ['folder']);
  const content = await readFile(archive);
  publish(content, `sha256:${sha256(content)}`);
  expect(await download(asset('folder/kwok'))).toBe(true);
  expect(await readFile(target, 'utf8')).toBe('binary');
  expect(await readdir(join(dir, 'bin'))).toEqual(['kwok']);
});

test('an interrupted download leaves nothing behind', async () => {
  files.set('/b.sha256', sha256('binary'));
  const slow = createServer((_, response) => {
    response.writeHead(200).write('bin');
    setTimeout(() => response.destroy(), 20);
  }).listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/b`;
  await expect(download({ ...file(), url })).rejects.toThrow();
  slow.close();
  expect(await readdir(join(dir, 'bin'))).toEqual([]);
});

test('without internet and without Go the way out is named', { tags: 'process' }, async () => {
  const hosts = { kubernetes: 'http://127.0.0.1:4', githubApi: 'http://127.0.0.1:4' };
  await expect(download({ ...file(), checksumUrl: 'http://127.0.0.1:4/x' })).rejects.toThrow(
    UnreachableError,
  );
  const lines: string[] = [];
  const obtained = obtainBinaries(['kwok', 'kubectl'], dir, {
    env: { PATH: dir },
    platform: { os: 'linux', arch: 'amd64' },
    hosts,
    onProgress: (line) => lines.push(line),
    signal,
  });
  await expect(obtained).rejects.toThrow(
    'kwok, kubectl cannot be had: no download (127.0.0.1:4 cannot be reached), and no go command',
  );
  expect(lines).toEqual(['no download of kwok: 127.0.0.1:4 cannot be reached']);
});

test('releases are named as they are published, and only where they are', () => {
  const hosts = OFFICIAL_HOSTS;
  const linux = { version: [1, 36, 3], platform: { os: 'linux', arch: 'arm64' }, hosts } as const;
  const mac = { ...linux, platform: { os: 'darwin', arch: 'arm64' } };
  expect(releaseOf('kube-apiserver', linux)).toEqual({
    kind: 'file',
    url: 'https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kube-apiserver',
    checksumUrl: 'https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kube-apiserver.sha256',
  });
  expect(releaseOf('kube-apiserver', mac)).toBeUndefined();
  expect(releaseOf('kubectl', mac)).toBeDefined();
  expect(releaseOf('etcd', mac)).toBeUndefined();
});
