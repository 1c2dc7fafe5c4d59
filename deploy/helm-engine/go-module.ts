import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inOrder } from './in-order.ts';

/** Folder of the engine's Go module, which pins Helm. */
export const goModule = fileURLToPath(
  new URL('../../provisioners/helm/engine/go', import.meta.url),
);

/** The file of the workspace in which the engine is built. */
export const engineWorkspace = 'engine.work';

const helmVersion = /^\s*helm\.sh\/helm\/v4 (v\S+)$/m;

/**
 * Linker flag for Helm's version, which templates can read; Helm's releases are built with it too.
 */
export async function versionFlag(): Promise<string> {
  const file = join(goModule, 'go.mod');
  const version = helmVersion.exec(await readFile(file, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${file} requires no version of helm.sh/helm/v4`);
  return `-X helm.sh/helm/v4/internal/version.version=${version}`;
}

/**
 * Hash of Go's version and of these files of the module (default: all, and the changes of its
 * dependencies).
 */
export async function sourceHash(
  env: NodeJS.ProcessEnv,
  paths?: readonly string[],
): Promise<string> {
  const version = await goVersion(env);
  return paths === undefined ? await moduleHash(version) : await hashOf(version, paths);
}

/** Hash of the module's files and the changes of its dependencies only; does not need Go. */
export async function moduleHash(start = ''): Promise<string> {
  return await hashOf(start + JSON.stringify(inOrder), await allFiles());
}

async function hashOf(start: string, paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(start);
  for (const path of paths) hash.update(path).update(await readFile(join(goModule, path)));
  return hash.digest('hex').slice(0, 16);
}

async function allFiles(): Promise<readonly string[]> {
  const entries = await readdir(goModule, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(goModule, join(parentPath, name)))
    .sort();
}

async function goVersion(env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOVERSION'], {
      cwd: goModule,
      env: { ...env, GOWORK: 'off' },
    });
    return stdout.trim();
  } catch (error) {
    throw new Error(
      "Helm's engine is built with Go, and there is no go command: install Go from https://go.dev/dl",
      { cause: error },
    );
  }
}
