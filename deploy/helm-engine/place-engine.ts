import { copyFile, mkdir, rename, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildHelmEngine, type HelmBuildOptions } from './cached-build.ts';

// Beside the module that loads it: in the checkout, and in what is published.
const places = [
  '../../provisioners/helm/engine/helm-engine.wasm',
  '../../dist/provisioners/helm/engine/helm-engine.wasm',
].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** Builds Helm's engine where it is not built yet, and puts it where it is looked for. */
export async function placeHelmEngine(options: HelmBuildOptions): Promise<void> {
  const built = await buildHelmEngine(options);
  for (const place of places) await put(built, place);
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
