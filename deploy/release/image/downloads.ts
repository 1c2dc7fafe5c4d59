import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { errorMessage } from '../../../core/errors.ts';
import { userCache } from '../../go-build/index.ts';
import { run } from '../run.ts';
import type { Architecture, Pins } from './pins.ts';

export interface DownloadOptions {
  /** Base URL with `debian/` and `debian-security/` below it (default: Debian's own). */
  readonly debianMirror?: string | undefined;
  readonly signal: AbortSignal;
}

/** A file with a known digest, downloaded once per user. */
interface PinnedFile {
  readonly name: string;
  readonly algorithm: 'sha256' | 'sha512';
  readonly digest: string;
}

const debian = 'https://deb.debian.org';
const snapshots = 'https://snapshot.debian.org/archive';

/**
 * The .deb files of an architecture.
 * @throws Error with the answer of each place, when none has a package of the pinned digest.
 */
export async function debianPackages(
  pins: Pins,
  architecture: Architecture,
  options: DownloadOptions,
): Promise<readonly Uint8Array[]> {
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const packages: Uint8Array[] = [];
    for (const { path, sha256 } of pins.debian[architecture]) {
      const urls = packageUrls(path, pins.snapshot, options.debianMirror);
      const name = path.slice(path.lastIndexOf('/') + 1);
      packages.push(
        await pinnedFile({ name, algorithm: 'sha256', digest: sha256 }, () =>
          firstWithDigest(urls, sha256, { dispatcher, signal: options.signal }),
        ),
      );
    }
    return packages;
  } finally {
    await dispatcher.close();
  }
}

/** Debian keeps only the newest version of a package; the snapshot has every version. */
function packageUrls(path: string, snapshot: string, mirror = debian): readonly string[] {
  const [archive = '', ...below] = path.split('/');
  return [
    `${mirror.replace(/\/+$/, '')}/${path}`,
    `${snapshots}/${archive}/${snapshot}/${below.join('/')}`,
  ];
}

async function firstWithDigest(
  urls: readonly string[],
  sha256: string,
  options: FetchOptions,
): Promise<Uint8Array> {
  const problems: string[] = [];
  for (const url of urls) {
    try {
      const bytes = await fetchBytes(url, options);
      const found = createHash('sha256').update(bytes).digest('hex');
      if (found === sha256) return bytes;
      problems.push(`${url} has the sha256 ${found} instead of ${sha256}`);
    } catch (error) {
      options.signal.throwIfAborted();
      problems.push(`${url}: ${errorMessage(error)}`);
    }
  }
  throw new Error(`no place has the Debian package: ${problems.join('; ')}`);
}

interface FetchOptions {
  readonly dispatcher: EnvHttpProxyAgent;
  readonly signal: AbortSignal;
}

async function fetchBytes(url: string, options: FetchOptions): Promise<Uint8Array> {
  const response = await fetch(url, options);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw new Error(`status ${response.status}`);
  return bytes;
}

/** The npm package with Node for an architecture, as `npm pack` downloads it. */
export async function nodePackage(
  pins: Pins,
  architecture: Architecture,
  { signal }: DownloadOptions,
): Promise<Uint8Array> {
  const { name, integrity } = pins.node.packages[architecture];
  const { version } = pins.node;
  const file = {
    name: `${name}-${version}.tgz`,
    algorithm: 'sha512' as const,
    digest: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'),
  };
  return await pinnedFile(file, async () => {
    const folder = await mkdtemp(join(await releaseCache(), '.node-'));
    try {
      const args = ['pack', `${name}@${version}`, '--ignore-scripts', '--silent'];
      const packed = await run('npm', args, { cwd: folder, signal });
      return await readFile(join(folder, packed.trim()));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Kept by digest in the user's cache folder, and verified at each use. */
async function pinnedFile(
  { name, algorithm, digest }: PinnedFile,
  download: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const file = join(await releaseCache(), `${digest.slice(0, 16)}-${name}`);
  const isPinned = (bytes: Uint8Array) =>
    createHash(algorithm).update(bytes).digest('hex') === digest;
  const kept = await readFile(file).catch(() => undefined);
  if (kept !== undefined && isPinned(kept)) return kept;
  const bytes = await download();
  if (!isPinned(bytes)) throw new Error(`${name} has not the ${algorithm} that pins.json names`);
  const temporary = join(dirname(file), `.${process.pid}-${name}`);
  await writeFile(temporary, bytes);
  await rename(temporary, file);
  return bytes;
}

async function releaseCache(): Promise<string> {
  const folder = join(userCache(process.env), 'release');
  await mkdir(folder, { recursive: true });
  return folder;
}
