import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');

/** What `npm run release` makes of this checkout, in a folder of its own. */
export class Release {
  readonly folder: string;
  readonly version: string;

  private constructor(folder: string, version: string) {
    this.folder = folder;
    this.version = version;
  }

  /** Pushed to a registry that speaks plain HTTP, as `release/rukpak`. Takes minutes. */
  static async make(registry: string, more: readonly string[] = []): Promise<Release> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-release-test-'));
    const push = ['--push', `${registry}/release/rukpak`, '--insecure-registry', registry];
    const args = [
      'deploy/release/release.ts',
      '--output',
      join(folder, 'release'),
      ...push,
      ...more,
    ];
    try {
      await promisify(execFile)(process.execPath, args, { cwd: root });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    return new Release(folder, version);
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

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
