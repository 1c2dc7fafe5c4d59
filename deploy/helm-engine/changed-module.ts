import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { engineWorkspace, goModule } from './go-module.ts';
import type { SourceChange } from './in-order.ts';

interface CopyOptions {
  /** Folder for a temporary copy. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Calls `build` with a copy of the engine's Go module, whose workspace has changed copies of
 * dependencies. All of its paths are relative, so that the same bytes are built anywhere.
 */
export async function withChanges(
  changes: readonly SourceChange[],
  options: CopyOptions,
  build: (module: string) => Promise<void>,
): Promise<void> {
  const copy = await mkdtemp(join(options.folder, '.module-'));
  try {
    await copyFiles(goModule, copy);
    for (const [module, folder] of await moduleFolders(changes, options)) {
      const place = `./changed/${module}`;
      await copyFiles(folder, join(copy, place));
      await appendFile(join(copy, engineWorkspace), `\nreplace ${module} => ${place}\n`);
    }
    for (const change of changes) {
      const file = join(copy, 'changed', change.module, change.file);
      await writeFile(file, changedText(await readFile(file, 'utf8'), change));
    }
    await build(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** @throws Error when the file does not have one of the texts, as in another version. */
export function changedText(text: string, { module, file, replacements }: SourceChange): string {
  return replacements.reduce((changed, [from, to]) => {
    if (changed.includes(from)) return changed.replaceAll(from, () => to);
    throw new Error(`${module}/${file} does not have the text ${JSON.stringify(from)}`);
  }, text);
}

const ofTests = /(?:^|\/)testdata\/|_test\.go$/;

/** Copies all files but those of tests; the copies are writable, unlike Go's cache. */
async function copyFiles(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(from, file);
    if (!entry.isFile() || ofTests.test(path)) continue;
    await mkdir(dirname(join(to, path)), { recursive: true });
    await writeFile(join(to, path), await readFile(file));
  }
}

interface DownloadedModule {
  readonly Path: string;
  readonly Dir: string;
}

/** Where Go's cache has the changed modules, in the versions of the build. */
async function moduleFolders(
  changes: readonly SourceChange[],
  { env, signal }: CopyOptions,
): Promise<ReadonlyMap<string, string>> {
  const modules = new Set(changes.map(({ module }) => module));
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', ...modules], {
    cwd: goModule,
    env: { ...env, GOWORK: join(goModule, engineWorkspace) },
    signal,
  });
  // One object after another.
  const downloaded = JSON.parse(`[${stdout.replaceAll(/^\}\n\{/gm, '},{')}]`);
  return new Map(downloaded.map(({ Path, Dir }: DownloadedModule) => [Path, Dir]));
}
