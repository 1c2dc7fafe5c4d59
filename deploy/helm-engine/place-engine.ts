import { copyFile, mkdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildHelmEngine, type HelmBuildOptions } from './cached-build.ts';
import { moduleHash } from './go-module.ts';

// Beside the module that loads it: in the checkout, and in what is published.
const [inCheckout, inPackage] = [
  '../../provisioners/helm/engine/helm-engine.wasm',
  '../../dist/provisioners/helm/engine/helm-engine.wasm',
].map((path) => fileURLToPath(new URL(path, import.meta.url))) as [string, string];
/** What the engine in the checkout was built of. */
const stamp = `${inCheckout}.source`;

/**
 * Builds Helm's engine where it is not built yet, and puts it where it is looked for. One that is in
 * place and of the same sources stays, and then Go is not needed.
 */
export async function placeHelmEngine(options: HelmBuildOptions): Promise<void> {
  const source = await moduleHash();
  if (!(await isInPlace(source))) {
    await put(await buildHelmEngine(options), inCheckout);
    await writeFile(stamp, source);
  }
  await put(inCheckout, inPackage);
}

async function isInPlace(source: string): Promise<boolean> {
  const there = await stat(inCheckout).catch(() => undefined);
  return there !== undefined && (await readFile(stamp, 'utf8').catch(() => '')) === source;
}

/** It appears at once and whole: others may be reading it. */
async function put(built: string, place: string): Promise<void> {
  const wanted = await stat(built);
  const there = await stat(place).catch(() => undefined);
  if (there?.size === wanted.size && Math.floor(there.mtimeMs) === Math.floor(wanted.mtimeMs))
    return;
  await mkdir(dirname(place), { recursive: true });
  const temporary = `${place}.${process.pid}`;
  await copyFile(built, temporary);
  await utimes(temporary, wanted.atime, wanted.mtime);
  await rename(temporary, place);
}
