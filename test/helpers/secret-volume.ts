import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kubectl } from './kubectl.ts';

/** A pod's volume of a Secret, as far as our manifests use it. */
export interface SecretVolumeSource {
  readonly secretName: string;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
  /** Of the pod (default: the system namespace). */
  readonly namespace?: string;
}

/** A Secret in a folder, in the kubelet's way: files are links, and all change at once. */
export class SecretVolume {
  readonly #kubectl: Kubectl;
  readonly #source: SecretVolumeSource;
  readonly #folder: string;
  #version = 0;

  constructor(kubectl: Kubectl, source: SecretVolumeSource, folder: string) {
    this.#kubectl = kubectl;
    this.#source = source;
    this.#folder = folder;
  }

  /** Brings the folder up to date; throws where the Secret or a key is missing. */
  async refresh(): Promise<void> {
    const { secretName, items, namespace } = this.#source;
    const data = await secretData(this.#kubectl, secretName, namespace);
    const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
    const version = `..version-${this.#version}`;
    await mkdir(join(this.#folder, version), { recursive: true });
    for (const { key, path } of wanted) {
      const content = data[key];
      if (content === undefined) throw new Error(`Secret ${secretName} has no key ${key}`);
      await writeFile(join(this.#folder, version, path), content, { mode: 0o600 });
    }
    await this.#show(
      version,
      wanted.map(({ path }) => path),
    );
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
