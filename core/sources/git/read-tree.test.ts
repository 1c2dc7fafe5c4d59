import git from 'isomorphic-git';
import { expect, test } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { defaultLimits } from '../../content/index.ts';
import { TerminalError } from '../../errors.ts';
import { MemoryFileSystem } from './memory-file-system.ts';
import { bundleDirectory, readTree } from './read-tree.ts';
import type { Checkout } from './repository.ts';

test.each([
  [undefined, ''],
  ['', ''],
  ['.', ''],
  ['./', ''],
  ['a', 'a'],
  ['./dev/deploy/', 'dev/deploy'],
  ['a//./b', 'a/b'],
  ['a/../b', 'b'],
  ['a/b/../..', ''],
  ['..data', '..data'],
])('%j is the tree at %j', (directory, path) => {
  expect(bundleDirectory(directory, 'r')).toBe(path);
});

test.each(['/', '/a', '..', '../a', 'a/../..', 'a/../../a', '../a/..'])('%j is refused', (path) => {
  expect(() => bundleDirectory(path, 'r')).toThrow(
    new TerminalError(
      `get subdirectory "${path}" for repository "r": directory can not start with '../' or '/'`,
    ),
  );
});

test('a million parts take no time', () => {
  const start = cpuTime();
  expect(bundleDirectory(`${'a/'.repeat(500_000)}${'../'.repeat(500_000)}b`, 'r')).toBe('b');
  expect(() => bundleDirectory('../'.repeat(500_000), 'r')).toThrow(TerminalError);
  expect(cpuTime() - start).toBeLessThan(2000);
});

/** A commit of these files. */
async function committed(files: Readonly<Record<string, string>>): Promise<Checkout> {
  const repository = { fs: new MemoryFileSystem(() => undefined), gitdir: '/r', cache: {} };
  await git.init({ ...repository, bare: true });
  for (const [filepath, text] of Object.entries(files)) {
    const oid = await git.writeBlob({ ...repository, blob: Buffer.from(text) });
    await git.updateIndex({ ...repository, dir: '/r', filepath, oid, add: true });
  }
  const author = { name: 'a', email: 'a@example.com' };
  const commit = await git.commit({ ...repository, author, message: 'all' });
  return { ...repository, commit };
}

const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`;

test.each(['deploy/manifests/crd.yaml', 'deploy/charts/db.tgz', 'deploy/dashboards/shop.json'])(
  'the pointer of Git LFS at %s is refused, and named',
  async (path) => {
    const checkout = await committed({ 'deploy/a.yaml': 'a: 1', [path]: pointer });
    await expect(readTree(checkout, 'deploy', defaultLimits)).rejects.toThrow(
      new TerminalError(
        `"${path}" is a pointer of Git LFS, whose file is not fetched: put the file itself into the repository, or move the pointer out of git.directory`,
      ),
    );
  },
);

test('pointers of pictures, of other directories, and texts about pointers are content', async () => {
  const about = `${pointer}${'is what a pointer looks like. '.repeat(50)}`;
  const files = { 'deploy/shop.PNG': pointer, 'deploy/about.md': about, 'other/a.yaml': pointer };
  const tree = await readTree(await committed(files), 'deploy', defaultLimits);
  expect([...tree.files.keys()]).toEqual(['about.md', 'shop.PNG']);
});
