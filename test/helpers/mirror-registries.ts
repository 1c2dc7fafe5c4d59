import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OwnRegistry } from './own-registry.ts';

/** A registry of images and an empty one to mirror them to; each test has its own path on it. */
export class MirrorRegistries {
  readonly source: string;
  readonly mirror: string;
  /** Of the test: `nextTest` makes another one. */
  dir: string;
  #tests = 0;
  readonly #root: string;
  readonly #registries: readonly OwnRegistry[];

  private constructor(root: string, source: OwnRegistry, mirror: OwnRegistry) {
    this.#root = root;
    this.dir = root;
    this.#registries = [source, mirror];
    this.source = source.host;
    this.mirror = mirror.host;
  }

  static async start(): Promise<MirrorRegistries> {
    const root = await mkdtemp(join(tmpdir(), 'rukpak-mirror-'));
    const [source, mirror] = [join(root, 'source'), join(root, 'mirror')];
    await Promise.all([mkdir(source), mkdir(mirror)]);
    const sourceRegistry = await OwnRegistry.start({ dir: source });
    const mirrorRegistry = await OwnRegistry.start({ dir: mirror });
    return new MirrorRegistries(root, sourceRegistry, mirrorRegistry);
  }

  async nextTest(): Promise<void> {
    this.dir = await mkdtemp(join(this.#root, 'run-'));
    this.#tests += 1;
  }

  /** Where the test mirrors to. */
  get to(): string {
    return `${this.mirror}/${this.path}`;
  }

  /** The part of `to` below the registry. */
  get path(): string {
    return `run${this.#tests}`;
  }

  /** Both registries are plain HTTP. */
  get flags(): readonly string[] {
    return [this.source, this.mirror].flatMap((host) => ['--insecure-registry', host]);
  }

  /** A file with an image set. */
  async imageSet(mirror: object): Promise<string> {
    const file = join(this.dir, 'imageset.yaml');
    const head = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' };
    await writeFile(file, JSON.stringify({ ...head, mirror }));
    return file;
  }

  /** From now on only the mirror can be reached. */
  async stopSource(): Promise<void> {
    await this.#registries[0]?.stop();
  }

  async stop(): Promise<void> {
    for (const registry of this.#registries) await registry.stop();
    await rm(this.#root, { recursive: true, force: true });
  }
}
