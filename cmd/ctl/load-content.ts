import { existsSync } from 'node:fs';
import type { BundleFiles, ContentLimits } from '../../core/contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { RegistryFlags } from '../registry-flags.ts';
import { dockerKeychain } from './docker-keychain.ts';
import { loadDirectory } from './load-directory.ts';

export interface LoadOptions {
  readonly limits: ContentLimits;
  readonly registries: RegistryFlags;
}

/**
 * Content by what a person types: a directory where one of that name exists, else an image, pulled
 * with the credentials of `docker login` where there are some.
 * @throws TerminalError that names what was typed.
 */
export async function loadContent(reference: string, options: LoadOptions): Promise<BundleFiles> {
  const isPath = /^[./~]/.test(reference) || existsSync(reference);
  return isPath ? loadDirectory(reference, options.limits) : await pullImage(reference, options);
}

async function pullImage(reference: string, options: LoadOptions): Promise<BundleFiles> {
  // Not needed for directories, and slow to load.
  const [{ ImagePuller }, { imagePullerOptions }] = await Promise.all([
    import('../../core/sources/index.ts'),
    import('../../core/manager/index.ts'),
  ]);
  const puller = new ImagePuller(await imagePullerOptions(options.registries));
  try {
    const keychain = await dockerKeychain();
    const signal = new AbortController().signal;
    const { files } = await puller.pull(reference, { limits: options.limits, keychain, signal });
    return files;
  } catch (error) {
    throw new TerminalError(
      `${reference} is no directory here, and pulling it as an image failed: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
