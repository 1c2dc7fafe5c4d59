import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface CommitOptions {
  readonly files: Readonly<Record<string, string>>;
  /** Targets of symlinks, by their paths at the root. */
  readonly symlinks?: Readonly<Record<string, string>>;
  readonly branch?: string;
  /** An annotated tag on the commit. */
  readonly annotatedTag?: string;
  /** A lightweight tag on the commit. */
  readonly tag?: string;
}

/** A bare repository below a git server's root. */
export class TestRepository {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async create(root: string, name: string): Promise<TestRepository> {
    const directory = join(root, name);
    await run('git', ['init', '--quiet', '--bare', '--initial-branch=main', directory]);
    return new TestRepository(directory);
  }

  /** Adds one commit whose tree is exactly `files` and `symlinks`; returns its SHA. */
  async commit({
    files,
    symlinks = {},
    branch = 'main',
    annotatedTag,
    tag,
  }: CommitOptions): Promise<string> {
    const tree = await mkdtemp(join(tmpdir(), 'rukpak-commit-'));
    try {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(tree, path)), { recursive: true });
        await writeFile(join(tree, path), content);
      }
      for (const [path, target] of Object.entries(symlinks)) {
        await symlink(target, join(tree, path));
      }
      const git = this.#git(tree);
      await git('symbolic-ref', 'HEAD', `refs/heads/${branch}`);
      await git('add', '--all');
      await git('commit', '--quiet', '--allow-empty', '--message', 'Content of a bundle');
      if (annotatedTag !== undefined) await git('tag', '--annotate', annotatedTag, '-m', 'release');
      if (tag !== undefined) await git('tag', tag);
      return (await git('rev-parse', 'HEAD')).trim();
    } finally {
      await rm(tree, { recursive: true, force: true });
    }
  }

  /** Adds one commit that has a submodule at this path. */
  async commitSubmodule(path: string): Promise<void> {
    const git = this.#git(this.#directory);
    const link = `160000,${'1'.repeat(40)},${path}`;
    await git('read-tree', 'HEAD');
    await git('update-index', '--add', '--cacheinfo', link);
    await git('commit', '--quiet', '--message', 'A submodule');
  }

  /** A commit that was only on this branch stays reachable by its tags. */
  async deleteBranch(branch: string): Promise<void> {
    await this.#git(this.#directory)('update-ref', '-d', `refs/heads/${branch}`);
  }

  #git(tree: string): (...arguments_: string[]) => Promise<string> {
    return async (...arguments_) => {
      const identity = ['-c', 'user.name=rukpak', '-c', 'user.email=rukpak@localhost'];
      const places = [`--git-dir=${this.#directory}`, `--work-tree=${tree}`];
      const { stdout } = await run('git', [
        ...identity,
        '-c',
        'core.bare=false',
        ...places,
        ...arguments_,
      ]);
      return stdout;
    };
  }
}
