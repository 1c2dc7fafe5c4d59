import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DirectoryUploads } from './directory-uploads.ts';

test('stores nothing for a Bundle whose name is too long for a file, and has nothing of it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'directory-uploads-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = new DirectoryUploads(directory);
  const key = { name: 'x'.repeat(215), uid: randomUUID() };
  const path = join(directory, 'received');
  await writeFile(path, 'bytes');
  const confirm = vi.fn<() => Promise<void>>();
  const upload = { path, size: 5, digest: 'x', confirm };
  await expect(store.put(key, upload)).rejects.toThrow('must be a DNS subdomain');
  expect(confirm).not.toHaveBeenCalled();
  expect(await store.read(key)).toBeUndefined();
  expect(await store.has(key)).toBe(false);
  expect(await store.digest(key)).toBeUndefined();
  await expect(store.delete(key)).resolves.toBeUndefined();
});

test('deletes uploads without a Bundle, and no files of others', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'directory-uploads-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = new DirectoryUploads(directory);
  const [wanted, unwanted] = [randomUUID(), randomUUID()];
  const uploads = [`demo.${wanted}.tgz`, `my.app.${unwanted}.tgz`];
  const others = ['mine.tgz', 'my.app.tgz', 'my.app-1.2.3.tgz', `${randomUUID()}.tgz`];
  for (const file of [...uploads, ...others]) await writeFile(join(directory, file), file);
  const asked: string[] = [];
  await store.collect(async ({ name, uid }) => {
    asked.push(name);
    return uid === wanted;
  });
  expect(asked.sort()).toEqual(['demo', 'my.app']);
  expect((await readdir(directory)).sort()).toEqual([...others, `demo.${wanted}.tgz`].sort());
});
