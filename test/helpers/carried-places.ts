import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CarryOptions } from '../../catalog/mirror/carry.ts';
import {
  type CarryResult,
  type MirrorResult,
  mirrorToCarried,
  pushCarried,
} from '../../catalog/mirror/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../core/registry/index.ts';
import { UploadRegistry } from './upload-registry.ts';

/** Two registries, and directories and tars that are filled from one and pushed to the other. */
export class CarriedPlaces {
  readonly source: UploadRegistry;
  readonly mirror: UploadRegistry;
  readonly dir: string;
  /** Lines `note:` of all runs. */
  readonly notes: string[] = [];

  private constructor(source: UploadRegistry, mirror: UploadRegistry, dir: string) {
    this.source = source;
    this.mirror = mirror;
    this.dir = dir;
  }

  static async start(): Promise<CarriedPlaces> {
    const [source, mirror] = [await UploadRegistry.start(), await UploadRegistry.start()];
    return new CarriedPlaces(source, mirror, await mkdtemp(join(tmpdir(), 'carry-')));
  }

  async stop(): Promise<void> {
    await Promise.all([this.source.stop(), this.mirror.stop()]);
    await rm(this.dir, { recursive: true });
  }

  options(): CarryOptions {
    const access = new RegistryAccess({
      insecureRegistries: [this.source.host, this.mirror.host],
      caCertificates: [],
      keychain: emptyKeychain,
      clock: systemClock,
    });
    return {
      access,
      perHost: 4,
      signal: new AbortController().signal,
      onEvent: (event) => {
        if (event.kind === 'note') this.notes.push(`note: ${event.text}`);
      },
    };
  }

  /** Copies images of the source into a directory or tar of the test. */
  async fill(
    name: string,
    images: readonly string[],
    more: Partial<CarryOptions> = {},
  ): Promise<CarryResult> {
    const additionalImages = images.map((image) => `${this.source.host}/${image}`);
    const set = { catalogs: [], additionalImages, blockedImages: [], leftOut: [] };
    return await mirrorToCarried(set, join(this.dir, name), { ...this.options(), ...more });
  }

  async push(name: string, more: Partial<CarryOptions> = {}): Promise<MirrorResult> {
    const registry = { host: this.mirror.host, prefix: '', insecure: true };
    return await pushCarried(join(this.dir, name), registry, { ...this.options(), ...more });
  }
}

/** `<repository>:<tag>` of the images that a run has copied or found. */
export function carriedNames({ images }: MirrorResult): readonly string[] {
  return images.map(({ path, tag }) => `${path}:${tag}`);
}
