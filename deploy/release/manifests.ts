import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import { projectRoot } from './product.ts';
import { run } from './run.ts';

/** The manifests that kubectl applies. */
export interface Manifests {
  /** The overlay self-signed. */
  readonly bundles: Rendered;
  /** The overlay operators: the same with OLM 1.0. */
  readonly operators: Rendered;
  /** The overlay operators-with-dependencies: operators may also create and delete Operators. */
  readonly dependencies: Rendered;
}

export interface Rendered {
  /** One file for kubectl. */
  readonly yaml: string;
  readonly objects: readonly KubernetesObject[];
}

const folders = ['base', 'components', 'crds', 'monitoring', 'operators', 'overlays'];
const shippedImage = /^(\s*(?:- )?image: )rukpak:\S+$/gm;

/**
 * Writes the kustomizations to a folder, each with this image, and renders those for new
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
  const rendered = async (overlay: string): Promise<Rendered> =>
    await render(join(folder, 'overlays', overlay), image, signal);
  return {
    bundles: await rendered('self-signed'),
    operators: await rendered('operators'),
    dependencies: await rendered('operators-with-dependencies'),
  };
}

async function render(overlay: string, image: string, signal: AbortSignal): Promise<Rendered> {
  const yaml = await run('kubectl', ['kustomize', overlay], { cwd: overlay, signal });
  if (yaml.split(`image: ${image}`).length === 1) {
    throw new Error(`the manifests of ${overlay} do not name the image ${image}`);
  }
  const objects = parseAllDocuments(yaml).map((each) => each.toJS() as KubernetesObject);
  return { yaml, objects };
}

/** A manifest with the released image instead of the placeholder. */
export function nameImage(manifest: string, image: string): string {
  return manifest.replace(shippedImage, (_line, field: string) => `${field}${image}`);
}
