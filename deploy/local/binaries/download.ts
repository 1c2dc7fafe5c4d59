import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar';
import type { Dispatcher } from 'undici';
import { fetch } from 'undici';
import { z } from 'zod';
import type { AssetRelease, Release } from './releases.ts';

const CONNECT_MILLISECONDS = 5_000;
const SHA256 = /^[0-9a-f]{64}$/;

/** The host is unreachable: no internet access, or a blocked one. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

export interface DownloadOptions {
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
}

/** A file to download, and its checksum. */
interface Source {
  readonly url: string;
  readonly sha256: string;
  readonly member?: string;
}

/** The answer's text; undefined when the file does not exist. */
async function readText(url: string, options: DownloadOptions): Promise<string | undefined> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(CONNECT_MILLISECONDS)]);
  try {
    const response = await fetch(url, { dispatcher: options.dispatcher, signal });
    const text = await response.text();
    return response.ok ? text : undefined;
  } catch (error) {
    options.signal.throwIfAborted();
    throw new UnreachableError(`${new URL(url).host} cannot be reached`, { cause: error });
  }
}

const githubReleaseSchema = z.object({
  assets: z.array(
    z.object({
      name: z.string(),
      browser_download_url: z.url(),
      digest: z.string().nullish(),
    }),
  ),
});

async function assetSource(release: AssetRelease, options: DownloadOptions) {
  const text = await readText(release.releaseUrl, options);
  if (text === undefined) return undefined;
  const { assets } = githubReleaseSchema.parse(JSON.parse(text));
  const found = assets.find(({ name }) => name === release.asset);
  const sha256 = found?.digest?.replace(/^sha256:/, '') ?? '';
  // Older releases have no digest there; a file that cannot be verified is not used.
  if (found === undefined || !SHA256.test(sha256)) return undefined;
  const { member } = release;
  return { url: found.browser_download_url, sha256, ...(member === undefined ? {} : { member }) };
}

async function sourceOf(release: Release, options: DownloadOptions): Promise<Source | undefined> {
  if (release.kind === 'asset') return assetSource(release, options);
  const text = await readText(release.checksumUrl, options);
  const sha256 = text?.trim().split(/\s/)[0] ?? '';
  return SHA256.test(sha256) ? { url: release.url, sha256 } : undefined;
}

async function fetchVerified(source: Source, file: string, options: DownloadOptions) {
  const { dispatcher, signal } = options;
  const response = await fetch(source.url, { dispatcher, signal });
  if (!response.ok || response.body === null) {
    throw new Error(`${source.url} answers with status ${response.status}`);
  }
  const hash = createHash('sha256');
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(undefined, chunk);
    },
  });
  await pipeline(response.body, tap, createWriteStream(file), { signal });
  const found = hash.digest('hex');
  if (found !== source.sha256) {
    throw new Error(
      `${source.url} has the sha256 ${found}, but ${source.sha256} is published for it`,
    );
  }
}

/**
 * Downloads the binary and verifies its checksum; false when there is no release, or none with a
 * checksum. `target` appears complete, or not at all.
 */
export async function downloadBinary(
  release: Release,
  target: string,
  options: DownloadOptions,
): Promise<boolean> {
  const source = await sourceOf(release, options);
  if (source === undefined) return false;
  const folder = await mkdtemp(join(dirname(target), '.download-'));
  try {
    const file = join(folder, 'file');
    await fetchVerified(source, file, options);
    let binary = file;
    if (source.member !== undefined) {
      const strip = source.member.split('/').length - 1;
      await extract({ file, cwd: folder, strip }, [source.member]);
      binary = join(folder, basename(source.member));
    }
    await chmod(binary, 0o755);
    await rename(binary, target);
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
