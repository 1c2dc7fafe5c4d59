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
 * The image of a bundle directory: `manifests`, `metadata` and, where there is one, `tests`. Its
 * labels are the annotations of `metadata/annotations.yaml`.
 * @throws TerminalError for a directory that is no bundle
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
 * The image of a file-based catalog: its directory as `/configs`, and the label that says so. It has
 * no program: a CatalogSource that uses it sets `spec.grpcPodConfig.extractContent`.
 * @throws TerminalError for what is no directory
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

/** Numbers and words that YAML takes for values are texts here, as opm reads them. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
