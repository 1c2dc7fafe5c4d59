import git, { type TreeEntry } from 'isomorphic-git';
import { BundleFilesBuilder, isLfsPointer } from '../../content/index.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import { TerminalError } from '../../errors.ts';
import type { Checkout } from './repository.ts';

const symlinkMode = '120000';

/**
 * The files below one directory of a commit. Drops symbolic links, as for all bundles; a missing
 * directory is an empty tree.
 */
export async function readTree(
  checkout: Checkout,
  directory: string,
  limits: ContentLimits,
): Promise<BundleFiles> {
  const builder = new BundleFilesBuilder(limits);
  const root = await findTree(checkout, directory);
  if (root !== undefined)
    await addTree({ ...checkout, root: directory }, { oid: root, path: '' }, builder);
  return builder.build();
}

interface Subtree extends Checkout {
  /** The bundle's directory in the repository. */
  readonly root: string;
}

async function findTree(checkout: Checkout, directory: string): Promise<string | undefined> {
  const { fs, gitdir, cache, commit } = checkout;
  let { oid } = await git.readTree({ fs, gitdir, cache, oid: commit });
  const parts = directory.split('/').filter((name) => name !== '');
  for (const [index, part] of parts.entries()) {
    const { tree } = await git.readTree({ fs, gitdir, cache, oid });
    const entry = tree.find((candidate) => candidate.path === part);
    if (entry?.type === 'commit') throw submodule(parts.slice(0, index + 1).join('/'));
    if (entry?.type !== 'tree') return undefined;
    ({ oid } = entry);
  }
  return oid;
}

async function addTree(
  checkout: Subtree,
  { oid, path }: { readonly oid: string; readonly path: string },
  builder: BundleFilesBuilder,
): Promise<void> {
  const { fs, gitdir, cache } = checkout;
  const { tree } = await git.readTree({ fs, gitdir, cache, oid });
  for (const entry of tree) {
    const entryPath = path === '' ? entry.path : `${path}/${entry.path}`;
    await addEntry(checkout, { entry, path: entryPath }, builder);
  }
}

async function addEntry(
  checkout: Subtree,
  { entry, path }: { readonly entry: TreeEntry; readonly path: string },
  builder: BundleFilesBuilder,
): Promise<void> {
  switch (entry.type) {
    case 'tree':
      builder.addDirectory(path);
      await addTree(checkout, { oid: entry.oid, path }, builder);
      return;
    case 'commit':
      throw submodule(inRepository(checkout, path));
    case 'blob': {
      if (entry.mode === symlinkMode) return;
      const { fs, gitdir, cache } = checkout;
      const { blob } = await git.readBlob({ fs, gitdir, cache, oid: entry.oid });
      if (isLfsPointer(path, blob)) throw lfsPointer(inRepository(checkout, path));
      builder.addFile(path, blob);
    }
  }
}

function inRepository({ root }: Subtree, path: string): string {
  return root === '' ? path : `${root}/${path}`;
}

function lfsPointer(path: string): TerminalError {
  return new TerminalError(
    `"${path}" is a pointer of Git LFS, whose file is not fetched: put the file itself into the repository, or move the pointer out of git.directory`,
  );
}

function submodule(path: string): TerminalError {
  return new TerminalError(
    `"${path}" is a git submodule, which is not fetched: put its files into the repository`,
  );
}

/**
 * The tree path of `git.directory`, empty for the repository's root. Implemented here, because
 * node:path takes minutes for the hundred thousand parts that an object can contain.
 */
export function bundleDirectory(directory: string | undefined, repository: string): string {
  const parts: string[] = [];
  let outside = directory?.startsWith('/') === true;
  for (const part of (directory ?? '').split('/')) {
    if (part === '..') outside ||= parts.pop() === undefined;
    else if (part !== '' && part !== '.') parts.push(part);
  }
  if (!outside) return parts.join('/');
  throw new TerminalError(
    `get subdirectory "${directory}" for repository "${repository}": directory can not start with '../' or '/'`,
  );
}
