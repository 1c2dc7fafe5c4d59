import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Where the engine's Go module is, which pins Helm. */
export const goModule = fileURLToPath(
  new URL('../../provisioners/helm/engine/go', import.meta.url),
);

const helmVersion = /^\s*helm\.sh\/helm\/v4 (v\S+)$/m;

/** Helm says its version in templates; its releases are built with it too. */
export async function versionFlag(): Promise<string> {
  const file = join(goModule, 'go.mod');
  const version = helmVersion.exec(await readFile(file, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${file} requires no version of helm.sh/helm/v4`);
  return `-X helm.sh/helm/v4/internal/version.version=${version}`;
}

/** Changes whenever what is built changes: with a file of the module, or with Go. */
export async function sourceHash(env: NodeJS.ProcessEnv): Promise<string> {
  const hash = createHash('sha256').update(await goVersion(env));
  const names = await readdir(goModule, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    hash.update(file.slice(goModule.length)).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
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
