import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RegistryAccess } from '../../core/registry/index.ts';
import type { PlatformImage } from './opened-image.ts';
import { type UnpackImageOptions, unpackImage } from './unpack-image.ts';

export interface UnpackTemporarily extends UnpackImageOptions {
  readonly registry: RegistryAccess;
}

/** Content of an image in a temporary directory, which exists until `close`. */
export interface TemporaryImage {
  readonly dir: string;
  readonly labels: PlatformImage['labels'];
  close(): Promise<void>;
}

/**
 * Unpacks an image of a registry or an OCI layout into a temporary directory. On failure, removes
 * the directory.
 * @throws as `RegistryAccess.open` and `unpackImage`
 */
export async function unpackTemporarily(
  place: string,
  { registry, signal, ...options }: UnpackTemporarily,
): Promise<TemporaryImage> {
  const parent = await mkdtemp(join(tmpdir(), 'rukpak-image-'));
  const close = (): Promise<void> => rm(parent, { recursive: true, force: true });
  try {
    const image = await registry.open(place, signal);
    try {
      const dir = join(parent, 'image');
      return { dir, labels: await unpackImage(image, dir, { ...options, signal }), close };
    } finally {
      await image.place.close();
    }
  } catch (error) {
    await close();
    throw error;
  }
}
