import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mapOf } from '../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { parseYaml } from '../../core/manifests/index.ts';
import { BuiltImage, type ImageContent } from './built-image.ts';
import { configsLabel } from './catalog-dockerfile.ts';

export interface BuildOptions extends Pick<ImageContent, 'format' | 'platform'> {
  /** Labels besides those of the content. */
  readonly labels?: ReadonlyMap<string, string> | undefined;
  readonly signal: AbortSignal;
}

const annotationsFile = 'metadata/annotations.yaml';

/**
 * Builds the image of a bundle directory with `manifests`, `metadata` and, optionally, `tests`. Its
 * labels are the annotations of `metadata/annotations.yaml`.
 * @throws TerminalError for a directory that is not a bundle
 */
export async function buildBundleImage(
  directory: string,
  { labels = new Map(), signal, ...rest }: BuildOptions,
): Promise<BuiltImage> {
  const folders = ['manifests', 'metadata', 'tests'];
  const present = await Promise.all(folders.map((name) => isDirectory(join(directory, name))));
  const missing = folders.slice(0, 2).filter((_name, index) => present[index] !== true);
  if (missing.length > 0) {
    throw new TerminalError(
      `${directory} is no bundle: it has no directory ${missing.join(' and no ')}; rukpakctl bundle generate writes metadata`,
    );
  }
  const annotations = await readAnnotations(join(directory, annotationsFile));
  const directories = folders
    .filter((_name, index) => present[index] === true)
    .map((name) => ({ from: join(directory, name), to: name }));
  const all = new Map([...annotations, ...labels]);
  return await BuiltImage.build({ ...rest, directories, labels: all }, signal);
}

/**
 * Builds the image of a file-based catalog: its directory as `/configs`, and a label with that
 * path. The image has no program: a CatalogSource that uses it sets
 * `spec.grpcPodConfig.extractContent`.
 * @throws TerminalError if the path is not a directory
 */
export async function buildCatalogImage(
  directory: string,
  { labels = new Map(), signal, ...rest }: BuildOptions,
): Promise<BuiltImage> {
  if (!(await isDirectory(directory))) {
    throw new TerminalError(`${directory} is not a directory`);
  }
  const directories = [{ from: directory, to: 'configs' }];
  const all = new Map([...labels, [configsLabel, '/configs']]);
  return await BuiltImage.build({ ...rest, directories, labels: all }, signal);
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

async function readAnnotations(file: string): Promise<ReadonlyMap<string, string>> {
  const document = await readFile(file, 'utf8')
    .then(parseYaml)
    .catch((error: unknown) => {
      throw new TerminalError(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
    });
  const annotations = Object.entries(mapOf(mapOf(document)['annotations']));
  if (annotations.length === 0) throw new TerminalError(`${file} has no annotations`);
  return new Map(annotations.map(([key, value]) => [key, textOf(value)]));
}

/** Like opm, uses the text of values that YAML reads as numbers or booleans. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
