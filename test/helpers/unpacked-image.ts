import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { z } from 'zod';
import { systemClock } from '../../core/platform/clock.ts';
import {
  blobBytes,
  type Descriptor,
  emptyKeychain,
  type ImagePlace,
  nodePlatform,
  parseImageReference,
  parseManifest,
  RegistryAccess,
} from '../../core/registry/index.ts';
import { ProcessRun, type StopSignal } from './rukpak-run.ts';

/** A container of an image, as a pod's container is described. */
export interface ContainerOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folders of this machine by their path in the container. */
  readonly volumes: ReadonlyMap<string, string>;
  /** In place of the image's own. */
  readonly entrypoint?: readonly string[];
}

const configSchema = z.object({
  config: z.object({
    User: z.string(),
    Env: z.array(z.string()),
    Entrypoint: z.array(z.string()),
    WorkingDir: z.string(),
  }),
});
type Config = z.infer<typeof configSchema>['config'];

const { signal } = new AbortController();
const devices = ['null', 'zero', 'full', 'random', 'urandom'];
const machineFiles = ['/etc/hosts', '/etc/resolv.conf'];

/** Mounts pairs of folders up to `--`, closes the root (`$0`), and starts what follows. */
const startContainer = `
set -e
while [ "$1" != -- ]; do
  mount --bind "$1" "$2"
  shift 2
done
shift
mount -t proc proc "$0/proc"
mount -o remount,bind,ro "$0"
exec "$@"
`;

/** An image of a registry in a folder, to run without a container engine. Needs root, on Linux. */
export class UnpackedImage {
  readonly #folder: string;
  readonly #root: string;
  readonly config: Config;

  private constructor(folder: string, root: string, config: Config) {
    this.#folder = folder;
    this.#root = root;
    this.config = config;
  }

  /** Of a registry that speaks plain HTTP, for this machine's architecture. */
  static async pull(reference: string): Promise<UnpackedImage> {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) {
      throw new Error('to run an image without a container engine takes root on Linux');
    }
    const { place, config, layers } = await openImage(reference);
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-image-'));
    const root = join(folder, 'root');
    await mkdir(root);
    for (const layer of layers) {
      const file = join(folder, 'layer.tar.gz');
      await writeFile(file, blobBytes(place, layer, signal));
      // Links stay as they are, absolute ones too.
      const args = ['--extract', '--gzip', '--file', file, '--directory', root];
      await promisify(execFile)('tar', [...args, '--preserve-permissions', '--numeric-owner']);
      await rm(file);
    }
    await place.close();
    for (const path of ['proc', 'dev', 'etc']) await mkdir(join(root, path), { recursive: true });
    for (const path of [...devices.map((name) => `dev/${name}`), ...machineFiles]) {
      await writeFile(join(root, path), '', { flag: 'a' });
    }
    return new UnpackedImage(folder, root, config);
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What a command prints in a container of its own; throws with its errors where it fails. */
  async run(entrypoint: readonly string[]): Promise<string> {
    const child = await this.#start({ entrypoint, args: [], env: {}, volumes: new Map() });
    const [printed, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    if (code !== 0) throw new Error(`${entrypoint.join(' ')} ended with ${code}: ${errors}`);
    return printed.trim();
  }

  /** Has the image's user own a folder, as a volume's with fsGroup. */
  async own(folder: string): Promise<void> {
    await promisify(execFile)('chown', ['--recursive', this.config.User, folder]);
  }

  /**
   * A container with a read-only root, in namespaces of its own but the network's, in which the API
   * server of this machine is. It ends with this process at the latest.
   */
  async start(options: ContainerOptions): Promise<ProcessRun> {
    return new ContainerRun(await this.#start(options));
  }

  async #start(options: ContainerOptions): Promise<ChildProcessByStdio<null, Readable, Readable>> {
    const { User, Env, WorkingDir, Entrypoint } = this.config;
    const inside = (path: string) => join(this.#root, path);
    for (const path of options.volumes.keys()) await mkdir(inside(path), { recursive: true });
    const same = [...devices.map((name) => `/dev/${name}`), ...machineFiles];
    const mounts = [
      [this.#root, this.#root],
      ...[...options.volumes].map(([path, folder]) => [folder, inside(path)]),
      ...same.map((path) => [path, inside(path)]),
    ];
    const [uid = '', gid = ''] = User.split(':');
    const env = [...Env, ...Object.entries(options.env).map((pair) => pair.join('='))];
    const enter = [
      `--root=${this.#root}`,
      `--wd=${WorkingDir}`,
      `--setgid=${gid}`,
      `--setuid=${uid}`,
    ];
    const restricted = ['/usr/bin/setpriv', '--no-new-privs', '/usr/bin/unshare', ...enter];
    const command = ['env', '-i', ...env, ...restricted, ...(options.entrypoint ?? Entrypoint)];
    const namespaces = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
    const shell = [
      'sh',
      '-c',
      startContainer,
      this.#root,
      ...mounts.flat(),
      '--',
      ...command,
      ...options.args,
    ];
    return spawn('unshare', [...namespaces, ...shell], { stdio: ['ignore', 'pipe', 'pipe'] });
  }
}

interface PlatformImage {
  readonly place: ImagePlace;
  readonly config: Config;
  /** Bottom first. */
  readonly layers: readonly Descriptor[];
}

/** The image of an index for this machine's architecture. */
async function openImage(reference: string): Promise<PlatformImage> {
  const access = new RegistryAccess({
    insecureRegistries: [parseImageReference(reference).domain],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const { place, manifest } = await access.open(reference, signal);
  const index = parseManifest(manifest.bytes, manifest.contentType);
  if (index.kind !== 'index') throw new Error(`${reference} is no index`);
  const { bytes, contentType } = await place.manifest(index.select(nodePlatform()).digest, signal);
  const image = parseManifest(bytes, contentType);
  if (image.kind !== 'image') throw new Error(`${reference} is an index of indexes`);
  const { config } = configSchema.parse(await json(blobBytes(place, image.config, signal)));
  return { place, config, layers: image.layers };
}

class ContainerRun extends ProcessRun {
  /** Sends a signal to its program: unshare waits for its only child, and takes none. */
  override stop(signal: StopSignal): void {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    process.kill(Number(children.trim()), signal);
  }
}
