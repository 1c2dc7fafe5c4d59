import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goBuild, userCache, withLock } from '../../../deploy/go-build/index.ts';

/** Pins RukPak v0.16.0, and what it is made of. */
const goModule = join(import.meta.dirname, 'go');
const path = 'github.com/operator-framework/rukpak';
const names = ['core', 'helm'] as const;

/** Files of RukPak's own. */
export interface RukpakPrograms extends Readonly<Record<(typeof names)[number], string>> {
  /** Its kustomize overlay with certificates of cert-manager, as its release has it. */
  readonly overlay: string;
}

/** RukPak v0.16.0, built from its Go module once for a user: that takes some minutes. */
export async function rukpakPrograms(signal: AbortSignal): Promise<RukpakPrograms> {
  const folder = join(userCache(process.env), 'rukpak-v0.16', await pinsHash());
  await mkdir(folder, { recursive: true });
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
  const purpose = 'building RukPak v0.16.0';
  await withLock(join(folder, '.lock'), { purpose, onProgress, signal }, async () => {
    for (const name of names) {
      const target = join(folder, name);
      if (await exists(target)) continue;
      const what = { title: `RukPak’s ${name}`, package: `${path}/cmd/${name}`, target };
      await goBuild({ ...what, cwd: goModule, env: process.env, onProgress, signal });
    }
  });
  const overlay = join(await moduleFolder(), 'manifests/overlays/cert-manager');
  return { core: join(folder, 'core'), helm: join(folder, 'helm'), overlay };
}

async function pinsHash(): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(goModule, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Where Go keeps the module's files. */
async function moduleFolder(): Promise<string> {
  const options = { cwd: goModule, env: { ...process.env, GOWORK: 'off' } };
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', path], options);
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
