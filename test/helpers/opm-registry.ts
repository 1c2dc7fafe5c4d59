import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuiltImage } from '../../catalog/images/index.ts';
import { registryAccess } from '../../cmd/registry-access.ts';
import type { BundleFiles } from '../../core/sdk.ts';
import { OwnRegistry } from './own-registry.ts';
import { pushImage } from './push-image.ts';

/** A registry over HTTP, and the surroundings in which both opms pull from it. */
export class OpmRegistry {
  readonly #registry: OwnRegistry;
  readonly #dir: string;

  private constructor(registry: OwnRegistry, dir: string) {
    this.#registry = registry;
    this.#dir = dir;
  }

  static async start(): Promise<OpmRegistry> {
    const dir = await mkdtemp(join(tmpdir(), 'opm-registry-'));
    const registry = await OwnRegistry.start({ dir });
    const settings = join(dir, '.config/containers');
    await mkdir(settings, { recursive: true });
    const policy = { default: [{ type: 'insecureAcceptAnything' }] };
    await writeFile(join(settings, 'policy.json'), JSON.stringify(policy));
    const insecure = `[[registry]]\nlocation = "${registry.host}"\ninsecure = true\n`;
    await writeFile(join(settings, 'registries.conf'), insecure);
    return new OpmRegistry(registry, dir);
  }

  get host(): string {
    return this.#registry.host;
  }

  /** For both programs: a home without logins, where the registry may be spoken to without TLS. */
  get env(): Readonly<Record<string, string>> {
    return {
      HOME: this.#dir,
      CONTAINERS_REGISTRIES_CONF: join(this.#dir, '.config/containers/registries.conf'),
    };
  }

  /** Pushes files as an image of one layer. Its reference. */
  async push(name: string, { files, directories }: BundleFiles): Promise<string> {
    const folders = [...directories].map((path) => [`${path}/`, ''] as const);
    const image = { registry: this.host, repository: name, tag: 'v1' };
    await pushImage({ ...image, layers: [{ files: Object.fromEntries([...folders, ...files]) }] });
    return `${this.host}/${name}:v1`;
  }

  /** Pushes what was built, and removes it from this machine. Its reference. */
  async pushBuilt(name: string, image: BuiltImage): Promise<string> {
    const { signal } = new AbortController();
    const access = await registryAccess({ insecureRegistry: [this.host] });
    const { target, tag } = await access.openTarget(`${this.host}/${name}`);
    await image.push(target, tag, signal);
    await target.close();
    await image.close();
    return `${this.host}/${name}`;
  }

  async stop(): Promise<void> {
    await this.#registry.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
