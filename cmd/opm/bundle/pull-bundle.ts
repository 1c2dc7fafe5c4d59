import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { unpackTemporarily } from '../../../catalog/images/index.ts';
import { BundleFilesBuilder, defaultLimits } from '../../../core/content/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import { parseImageReference } from '../../../core/registry/index.ts';
import type { BundleFiles } from '../../../core/sdk.ts';
import { type AccessOptions, accessTo } from '../system-access.ts';

export interface PullBundleOptions extends AccessOptions {
  readonly signal: AbortSignal;
}

/**
 * Files of an image, pulled with the settings and logins of the machine's container tools. Skips
 * links, because bundles have none.
 * @throws TerminalError for an invalid reference or an unavailable image
 */
export async function pullBundle(
  reference: string,
  { signal, ...options }: PullBundleOptions,
): Promise<BundleFiles> {
  checkReference(reference);
  const registry = await accessTo([reference], options);
  const { maxBytes } = defaultLimits;
  const image = await unpackTemporarily(`docker://${reference}`, { registry, maxBytes, signal });
  try {
    return await filesIn(image.dir);
  } finally {
    await image.close();
  }
}

/** @throws TerminalError with opm's text. */
function checkReference(reference: string): void {
  try {
    parseImageReference(reference);
  } catch (error) {
    const name = reference.replace(/^[^/]*[.:][^/]*\//, '').replace(/[:@].*$/, '');
    const why = /[A-Z]/.test(name) ? ': repository name must be lowercase' : '';
    throw new TerminalError(`invalid reference format${why}`, { cause: error });
  }
}

async function filesIn(root: string): Promise<BundleFiles> {
  const builder = new BundleFilesBuilder(defaultLimits);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(root, file);
    if (entry.isDirectory()) builder.addDirectory(path);
    else if (entry.isFile()) builder.addFile(path, await readFile(file));
  }
  return builder.build();
}
