import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Kubectl } from './kubectl.ts';

/** A pod's volume of a Secret or ConfigMap, as far as our manifests use it. */
export type DataVolumeSource = SecretVolumeSource | ConfigMapVolumeSource;

interface KeyToPath {
  readonly key: string;
  readonly path: string;
}

export interface SecretVolumeSource {
  readonly secretName: string;
  readonly items?: readonly KeyToPath[];
  /** Of the pod (default: the system namespace). */
  readonly namespace?: string | undefined;
}

export interface ConfigMapVolumeSource {
  readonly configMapName: string;
  readonly items?: readonly KeyToPath[] | undefined;
}

/** A Secret or ConfigMap in a folder, in the kubelet's way: files are links, and all change at once. */
export class DataVolume {
  readonly #kubectl: Kubectl;
  readonly #source: DataVolumeSource;
  readonly #folder: string;
  #version = 0;

  constructor(kubectl: Kubectl, source: DataVolumeSource, folder: string) {
    this.#kubectl = kubectl;
    this.#source = source;
    this.#folder = folder;
  }

  /** Brings the folder up to date; throws where the object or a key is missing. */
  async refresh(): Promise<void> {
    const data = await this.#content();
    const wanted = this.#source.items ?? Object.keys(data).map((key) => ({ key, path: key }));
    const version = `..version-${this.#version}`;
    await mkdir(join(this.#folder, version), { recursive: true });
    for (const { key, path } of wanted) {
      const content = data[key];
      if (content === undefined)
        throw new Error(`${JSON.stringify(this.#source)} has no key ${key}`);
      const file = join(this.#folder, version, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content, { mode: 0o600 });
    }
    // A path in a folder is seen through a link to that folder.
    const shown = new Set(wanted.map(({ path }) => path.split('/', 1).join('')));
    await this.#show(version, [...shown]);
  }

  async #content(): Promise<Readonly<Record<string, string>>> {
    const source = this.#source;
    if ('secretName' in source) {
      return await secretData(this.#kubectl, source.secretName, source.namespace);
    }
    const object = await this.#kubectl.get('configmap', source.configMapName, 'rukpak-system');
    return object['data'] as Readonly<Record<string, string>>;
  }

  async #show(version: string, paths: readonly string[]): Promise<void> {
    const inFolder = (name: string): string => join(this.#folder, name);
    await symlink(version, inFolder('..data_tmp'));
    await rename(inFolder('..data_tmp'), inFolder('..data'));
    if (this.#version === 0) {
      for (const path of paths) await symlink(join('..data', path), inFolder(path));
    } else {
      await rm(inFolder(`..version-${this.#version - 1}`), { recursive: true });
    }
    this.#version += 1;
  }
}

/** The decoded values of a Secret; throws where there is none. */
export async function secretData(
  kubectl: Kubectl,
  name: string,
  namespace = 'rukpak-system',
): Promise<Readonly<Record<string, string>>> {
  const { data } = (await kubectl.get('secret', name, namespace)) as unknown as {
    data: Record<string, string>;
  };
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}
