import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { withLock } from '../../deploy/go-build/index.ts';
import { layoutOf } from '../../deploy/local/cluster/layout.ts';
import { packedDigest } from './packed-package.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** What `npm run release` makes of this checkout, in a folder of its own. */
export class Release {
  readonly folder: string;
  readonly version: string;
  /** That it was pushed to: `host:port`, plain HTTP. */
  readonly registry: string;

  private constructor(folder: string, registry: string, version: string) {
    this.folder = folder;
    this.registry = registry;
    this.version = version;
  }

  /**
   * The one that all files of a run share: the first that asks makes it. It is in the folder and the
   * registry of the first control plane, and is removed with these. Takes minutes.
   */
  static async shared(): Promise<Release> {
    const [first] = inject('controlPlanes');
    if (first === undefined) throw new Error('there is no control plane');
    const { stdout } = await run('git', ['rev-parse', 'HEAD'], { cwd: root });
    const of = `${await packedDigest()}-${stdout.trim()}`;
    const { companions } = layoutOf(first.clusterDir);
    const folder = join(companions, `release-${of}`);
    const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
    const { signal } = new AbortController();
    const options = { purpose: 'making a release', onProgress, signal };
    return await withLock(join(companions, 'release.lock'), options, async () => {
      // Only a complete release has this name.
      if (existsSync(join(folder, 'release'))) return await Release.#in(folder, first.registry);
      return await Release.#makeIn(folder, first.registry);
    });
  }

  /** Another one, pushed as `release/rukpak`. Takes minutes. */
  static async make(registry: string, more: readonly string[] = []): Promise<Release> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-release-test-'));
    return await Release.#makeIn(folder, registry, more);
  }

  static async #makeIn(
    folder: string,
    registry: string,
    more: readonly string[] = [],
  ): Promise<Release> {
    const push = ['--push', `${registry}/release/rukpak`, '--insecure-registry', registry];
    const output = ['--output', join(folder, 'release')];
    try {
      await run(process.execPath, ['deploy/release/release.ts', ...output, ...push, ...more], {
        cwd: root,
      });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return await Release.#in(folder, registry);
  }

  static async #in(folder: string, registry: string): Promise<Release> {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    return new Release(folder, registry, version);
  }

  /** Of a file of the release. */
  path(name: string): string {
    return join(this.folder, 'release', name);
  }

  async read(name: string): Promise<string> {
    return await readFile(this.path(name), 'utf8');
  }

  /** As its manifests name it, by its digest. */
  async image(): Promise<string> {
    const image = /image: (\S+@sha256:[0-9a-f]{64})$/m.exec(await this.read('install.yaml'))?.[1];
    if (image === undefined) throw new Error('install.yaml names no image by its digest');
    return image;
  }

  /** Not for the shared one. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
