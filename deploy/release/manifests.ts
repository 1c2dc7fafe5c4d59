import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import { projectRoot } from './product.ts';
import { run } from './run.ts';

/** The manifests that kubectl applies. */
export interface Manifests {
  /** One file: the overlay self-signed. */
  readonly installYaml: string;
  readonly objects: readonly KubernetesObject[];
}

const folders = ['base', 'components', 'crds', 'monitoring', 'overlays'];
const shippedImage = /^(\s*(?:- )?image: )rukpak:\S+$/gm;

/**
 * Writes the kustomizations to a folder, each with this image, and renders the one for new
 * clusters.
 * @throws Error without kubectl, whose kustomize renders it
 */
export async function writeManifests(
  folder: string,
  image: string,
  signal: AbortSignal,
): Promise<Manifests> {
  for (const each of folders) {
    await cp(join(projectRoot, 'deploy', each), join(folder, each), { recursive: true });
  }
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile() && each.name.endsWith('.yaml'))) {
    const path = join(file.parentPath, file.name);
    const text = await readFile(path, 'utf8');
    const named = nameImage(text, image);
    if (named !== text) await writeFile(path, named);
  }
  const overlay = join(folder, 'overlays/self-signed');
  const installYaml = await run('kubectl', ['kustomize', overlay], { cwd: folder, signal });
  const objects = parseAllDocuments(installYaml).map((each) => each.toJS() as KubernetesObject);
  if (installYaml.split(`image: ${image}`).length === 1) {
    throw new Error(`install.yaml does not name the image ${image}`);
  }
  return { installYaml, objects };
}

/** A manifest with the released image instead of the placeholder. */
export function nameImage(manifest: string, image: string): string {
  return manifest.replace(shippedImage, (_line, field: string) => `${field}${image}`);
}
