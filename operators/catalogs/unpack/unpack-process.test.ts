// @module-tag process
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildCatalogImage } from '../../../catalog/images/index.ts';
import { systemClock } from '../../../core/controller.ts';
import { emptyKeychain, RegistryAccess } from '../../../core/registry/index.ts';
import { CatalogContent } from '../content/catalog-content.ts';
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
