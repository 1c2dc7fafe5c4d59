// @module-tag process
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildCatalogImage, configsLabel } from '../../../catalog/images/index.ts';
import { systemClock } from '../../../core/controller.ts';
import { emptyKeychain, RegistryAccess } from '../../../core/registry/index.ts';
import type { TarEntry } from '../../../deploy/release/tar-archive.ts';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import type { LayerContent } from '../../../test/helpers/layer-archive.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { CatalogContent } from '../content/catalog-content.ts';
import { CatalogImages } from '../source/catalog-image.ts';
import type { UnpackJob } from './unpack-catalog.ts';
import { unpackInProcess } from './unpack-process.ts';

const { signal } = new AbortController();
const process = { memoryMegabytes: 256, timeout: 120_000, clock: systemClock };
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'unpack-process-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Documents of 32 KB that have 1.5 MB as JSON each. */
function bombs(count: number): string {
  const text = 'x'.repeat(30_000);
  const document = `schema: x\na: &a ${text}\nb: [${Array(50).fill('*a').join(', ')}]\n---\n`;
  return document.repeat(count);
}

/** An OCI layout of an image with these files as its catalog. */
async function jobOf(files: Readonly<Record<string, string>>): Promise<UnpackJob> {
  await mkdir(join(directory, 'source'));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, 'source', name), content);
  }
  const access = new RegistryAccess({
    insecureRegistries: [],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const image = await buildCatalogImage(join(directory, 'source'), { signal });
  const { target, tag } = await access.openTarget(`oci:${join(directory, 'layout')}`);
  await image.push(target, tag, signal);
  await image.close();
  await target.close();
  return jobOfLayout();
}

/** An OCI layout of an image with a catalog in /configs, with these layers. */
async function jobOfLayers(...layers: readonly LayerContent[]): Promise<UnpackJob> {
  const registry = await FakeRegistry.start();
  try {
    const labels = { [configsLabel]: '/configs' };
    const bytes = Buffer.from(JSON.stringify({ config: { Labels: labels } }));
    const config = registry.addBlob(bytes, 'application/vnd.oci.image.config.v1+json');
    const change = (manifest: object) => ({ ...manifest, config });
    const { digest } = await registry.addImage('v1', layers, change);
    const access = new RegistryAccess({
      insecureRegistries: [registry.host],
      caCertificates: [],
      keychain: emptyKeychain,
      clock: systemClock,
    });
    const secrets = { read: async () => undefined };
    const logger = silentLogger;
    const timeouts = { resolve: 60_000, download: 60_000 };
    const images = new CatalogImages({
      registry: access,
      secrets,
      maxBytes: 1e9,
      timeouts,
      logger,
    });
    const ref = `${registry.host}/shop@${digest}`;
    const request = { ref, pullSecret: undefined, insecureSkipTLSVerify: false };
    await images.download(ref, { request, directory: join(directory, 'layout'), signal });
    return jobOfLayout();
  } finally {
    await registry.stop();
  }
}

function jobOfLayout(): UnpackJob {
  return {
    layout: join(directory, 'layout'),
    ref: 'reg.example/shop:v1',
    files: join(directory, 'files'),
    content: join(directory, 'content'),
    limits: {
      maxBytes: 100_000_000,
      maxFileBytes: 50_000_000,
      maxBlobs: 1000,
      maxNameBytes: 100_000,
    },
  };
}

test('makes content of an image, as catalogd stores it', async () => {
  const job = await jobOf({
    'a.yaml': 'schema: olm.package\nname: a\nn: 1.10\ndefaultChannel: <x>\n',
    'b.json': '{"schema":"olm.package","name":"b","z":1.0}',
    '.indexignore': 'README.md',
    'README.md': '# No catalog',
  });
  expect(await unpackInProcess(job, process, signal)).toBeUndefined();
  await using content = await CatalogContent.open(job.content);
  expect([...content.records.packages]).toEqual(['a', 'b']);
  expect((await readFile(join(job.content, 'all.jsonl'), 'utf8')).split('\n')).toEqual([
    '{"defaultChannel":"<x>","false":1.1,"name":"a","schema":"olm.package"}',
    '{"name":"b","schema":"olm.package","z":1}',
    '',
  ]);
});

const blob = '{"schema":"olm.package","name":"a"}';

test('links lead to files of the catalog, and other links of the image do not matter', async () => {
  const job = await jobOfLayers(
    {
      tarEntries: [
        { name: 'bin', type: 'SymbolicLink', linkpath: 'usr/bin' },
        { name: 'etc/mtab', type: 'SymbolicLink', linkpath: '/proc/mounts' },
        { name: 'configs/below.json', content: '{"schema":"below"}' },
        { name: 'configs/a.json', type: 'SymbolicLink', linkpath: '../configs/.wh' },
      ],
    },
    {
      tarEntries: [
        { name: 'configs/a.json', type: 'SymbolicLink', linkpath: 'data/a.json' },
        { name: 'configs/data', type: 'SymbolicLink', linkpath: '/configs/.v1' },
        { name: 'configs/.v1/a.json', content: blob },
        { name: 'configs/.indexignore', content: '.v1\ndata' },
        { name: 'configs/data', type: 'SymbolicLink', linkpath: '.v1/a.json' },
        { name: 'configs/a.json', type: 'SymbolicLink', linkpath: './/data' },
        { name: 'configs/.wh.below.json', content: '' },
      ],
    },
  );
  expect(await unpackInProcess(job, process, signal)).toBeUndefined();
  const stored = await readFile(join(job.content, 'all.jsonl'), 'utf8');
  expect(stored).toBe('{"name":"a","schema":"olm.package"}\n');
});

test.each<readonly [string, TarEntry, RegExp]>([
  [
    'a long name',
    { name: `configs/${'n'.repeat(300)}.yaml`, content: blob },
    /^layer sha256:\S+ the image cannot be unpacked: open "configs\/n+": file name too long$/,
  ],
  [
    'a link to nothing',
    { name: 'configs/a.json', type: 'SymbolicLink', linkpath: 'b.json' },
    /^symlink "configs\/a.json" leads to no file of the catalog: "\/configs\/b.json"$/,
  ],
])('tells the problem of an image with %s', async (_, entry, message) => {
  const job = await jobOfLayers({ tarEntries: [entry] });
  const problem = await unpackInProcess(job, process, signal);
  expect(problem).toEqual({ step: 'image', message: expect.stringMatching(message) });
});

test.each([
  [
    'a file that is no catalog',
    { 'README.md': '# No catalog' },
    /^object 'null\n?'|schema|cannot|error/,
  ],
  [
    'documents whose aliases make much of little',
    { 'a.yaml': bombs(200) },
    /^the blobs of the catalog have more than the limit of 100000000 bytes as JSON$/,
  ],
  ['a file over the limit', { 'a.json': ' '.repeat(50_000_001) }, /50000000|limit/],
])('tells the problem of %s', async (_, files, message) => {
  const problem = await unpackInProcess(await jobOf(files), process, signal);
  expect(problem?.message).toMatch(message);
});

test('a catalog that needs too much memory or time is one problem, and not the manager’s', async () => {
  const nested = `{"schema":"x","v":[${'{"a":[1,2,3]},'.repeat(2_000_000)}1]}`;
  const job = await jobOf({ 'a.json': nested });
  const little = { ...process, memoryMegabytes: 32 };
  expect(await unpackInProcess(job, little, signal)).toEqual({
    step: 'content',
    message: 'the catalog needs more than 32 MiB to be read',
  });
  await rm(job.files, { recursive: true });
  await rm(job.content, { recursive: true });
  expect(await unpackInProcess(job, { ...process, timeout: 1 }, signal)).toEqual({
    step: 'content',
    message: 'the catalog takes more than 0.001 s to read',
  });
});

test('killed by others is not reported as too much for the limit', async () => {
  const nested = `{"schema":"x","v":[${'{"a":[1,2,3]},'.repeat(2_000_000)}1]}`;
  const job = await jobOf({ 'a.json': nested });
  const before = new Set(await children());
  const running = unpackInProcess(job, process, signal);
  const [pid] = (await children()).filter((child) => !before.has(child));
  // As the kernel does when memory runs out.
  kill(pid ?? 0, 'SIGKILL');
  await expect(running).rejects.toThrow(
    'the process that unpacks the catalog was killed by SIGKILL, and not by this program: the memory limit of the kernel or the container is the likely cause',
  );
});

/** Process IDs of the children of this process. */
async function children(): Promise<readonly number[]> {
  const threads = await readdir('/proc/self/task');
  const lists = threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8'));
  return (await Promise.all(lists)).join(' ').split(' ').filter(Boolean).map(Number);
}

test('is ended by the signal', async () => {
  const job = await jobOf({ 'a.json': '{"schema":"olm.package","name":"a"}' });
  const stop = new AbortController();
  const running = unpackInProcess(job, process, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
});
