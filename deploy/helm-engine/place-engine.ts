import { copyFile, mkdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildHelmEngine, type HelmBuildOptions } from './cached-build.ts';
import { moduleHash } from './go-module.ts';

// Beside the module that loads it: in the checkout, and in the published package.
const [inCheckout, inPackage] = [
  '../../provisioners/helm/engine/helm-engine.wasm',
  '../../dist/provisioners/helm/engine/helm-engine.wasm',
].map((path) => fileURLToPath(new URL(path, import.meta.url))) as [string, string];
/** File with the hash of the sources of the engine in the checkout. */
const stamp = `${inCheckout}.source`;

/**
 * Builds Helm's engine if necessary, and puts it where core loads it. Keeps an engine of the same
 * sources, without needing Go.
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

/** Renames a complete file into place, because others may be reading the old one. */
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
