import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { goFileError } from '../../../api/go-file-error.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { mapOf } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { type BundleFiles, parseYaml } from '../../../core/sdk.ts';
import { bundleMediaType } from '../../bundle-checks/index.ts';
import { bundleAnnotations, bundleDockerfile, bundleLabels } from './bundle-metadata.ts';
import { inferPackage } from './package-manifests.ts';

export interface GenerateBundle {
  /** Folder with the manifests. */
  readonly directory: string;
  /**
   * Folder for metadata and a copy of the manifests. If empty, metadata goes beside the manifests,
   * without a copy.
   */
  readonly outputDir: string;
  /** If empty, inferred from the folder around the manifests, as are channels. */
  readonly packageName: string;
  readonly channels: string;
  readonly defaultChannel: string;
  readonly baseImage: string;
  /** Whether to overwrite existing files. If false, existing annotations must match the options. */
  readonly overwrite: boolean;
  /** Ends the error about annotations that do not match. opm has none. */
  readonly cure?: (annotationsFile: string) => string;
  /** Called for each step, with opm's message. */
  readonly log: (message: string) => void;
}

const dockerfile = 'bundle.Dockerfile';
const annotationsFile = 'annotations.yaml';

/**
 * Writes `metadata/annotations.yaml` of a bundle, and `bundle.Dockerfile` into the working directory.
 * Returns the paths of existing files that it kept, relative to the working directory.
 * @throws TerminalError in opm's words.
 */
export async function generateBundle(options: GenerateBundle): Promise<readonly string[]> {
  const { baseImage, overwrite, log, cure } = options;
  const kept: string[] = [];
  const directory = resolve(options.directory);
  const mediaType = await mediaTypeOf(directory);
  const metadata = { mediaType, ...(await namedPackage(directory, options)) };
  log('Building annotations.yaml');
  const folder = options.outputDir === '' ? dirname(directory) : resolve(options.outputDir);
  let manifests = directory;
  if (options.outputDir !== '') {
    log('Generating output manifests directory');
    manifests = join(folder, 'manifests');
    kept.push(...(await copyFolder(directory, manifests, overwrite)));
  }
  const metadataFolder = join(folder, 'metadata');
  const file = join(metadataFolder, annotationsFile);
  const existing = overwrite ? undefined : await textOf(file);
  if (existing === undefined) {
    const written = { name: annotationsFile, text: bundleAnnotations(metadata) };
    await write(metadataFolder, written, log);
  } else {
    log('An annotations.yaml already exists in the directory: metadata/');
    log('Validating existing annotations.yaml');
    const problem = annotationsProblem(existing, bundleLabels(metadata));
    if (problem !== undefined) {
      throw new TerminalError(cure === undefined ? problem : `${problem}: ${cure(fromHere(file))}`);
    }
    kept.push(file);
  }
  log('Building Dockerfile');
  const paths = { manifests: fromHere(manifests), metadata: fromHere(metadataFolder) };
  const text = bundleDockerfile({ ...metadata, ...paths, baseImage });
  const here = process.cwd();
  if (overwrite || (await textOf(dockerfile)) === undefined) {
    await write(here, { name: dockerfile, text }, log);
  } else {
    log(`A bundle.Dockerfile already exists in current working directory: ${here}`);
    kept.push(dockerfile);
  }
  return kept.map((path) => fromHere(resolve(path)));
}

async function mediaTypeOf(directory: string): Promise<string> {
  await ofFile(directory, () => stat(directory));
  const entries = await ofFile(directory, () => readdir(directory, { withFileTypes: true }));
  const files = new Map<string, Uint8Array>();
  for (const entry of entries.filter((each) => !each.isDirectory())) {
    files.set(`manifests/${entry.name}`, await readFile(join(directory, entry.name)));
  }
  const content: BundleFiles = { files, directories: new Set(['manifests']) };
  const type = bundleMediaType(content);
  if (type !== undefined) return type;
  throw new TerminalError(`The directory ${directory} contains no yaml files`);
}

type NamedPackage = Pick<GenerateBundle, 'packageName' | 'channels' | 'defaultChannel'>;

async function namedPackage(directory: string, options: GenerateBundle): Promise<NamedPackage> {
  const { packageName, channels, defaultChannel, log } = options;
  const missing = [
    ...(channels === '' ? ['channels'] : []),
    ...(packageName === '' ? ['package name'] : []),
  ];
  if (missing.length === 0) return options;
  log(
    `Bundle ${missing.join(' and ')} information not provided, inferring from parent package directory`,
  );
  const inferred = await inferPackage(directory).catch((error: unknown) => {
    throw new TerminalError(
      `please manually input channels and packageName, error interpreting bundle from directory ${directory}, ${errorMessage(error)}`,
      { cause: error },
    );
  });
  function told(what: string, given: string, found: string): string {
    if (given !== '') return given;
    log(`Inferred ${what}: ${found}`);
    return found;
  }
  const found = inferred.channels.join(',');
  if (channels === '' && found === '') {
    throw new TerminalError('error interpreting channels, please manually input channels instead');
  }
  return {
    channels: told('channels', channels, found),
    packageName: told('package name', packageName, inferred.packageName),
    defaultChannel: told('default channel', defaultChannel, inferred.defaultChannel),
  };
}

/**
 * Copies a folder, and returns the existing files that it kept. As in opm, the files of all
 * subfolders go into one folder with its name.
 */
async function copyFolder(
  from: string,
  to: string,
  overwrite: boolean,
): Promise<readonly string[]> {
  const kept: string[] = [];
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory()) {
      const folder = join(to, from.slice(from.lastIndexOf('/') + 1));
      kept.push(...(await copyFolder(source, folder, overwrite)));
      continue;
    }
    const target = join(to, entry.name);
    if (!overwrite && (await textOf(target)) !== undefined) {
      kept.push(target);
      continue;
    }
    await copyFile(source, target);
    await chmod(target, (await stat(source)).mode);
  }
  return kept;
}

/** Missing and different annotations, in opm's words. */
function annotationsProblem(
  existing: string,
  expected: ReadonlyMap<string, string>,
): string | undefined {
  const annotations = mapOf(mapOf(parseYaml(existing))['annotations']);
  const problems = [...expected].flatMap(([key, value]) => {
    const annotation = annotations[key];
    if (annotation === undefined) return [`Missing field: ${key}`];
    const found = typeof annotation === 'string' ? annotation : JSON.stringify(annotation);
    if (found === value) return [];
    return [
      `Expect field ${goQuote(key)} to have value ${goQuote(value)} instead of ${goQuote(found)}`,
    ];
  });
  if (problems.length === 0) return undefined;
  return problems.length === 1 ? problems.join('') : `[${problems.join(', ')}]`;
}

/** Undefined for a file that does not exist: one that cannot be read must not be replaced. */
async function textOf(file: string): Promise<string | undefined> {
  return await ofFile(file, () =>
    readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    }),
  );
}

interface WrittenFile {
  readonly name: string;
  readonly text: string;
}

async function write(
  folder: string,
  { name, text }: WrittenFile,
  log: GenerateBundle['log'],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  log(`Writing ${name} in ${folder}`);
  const file = join(folder, name);
  await ofFile(file, () => writeFile(file, text));
}

async function ofFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new TerminalError(goFileError(error, path) ?? errorMessage(error), { cause: error });
  }
}

/** Like Go's filepath.Rel, `.` for the working directory itself. */
function fromHere(path: string): string {
  return relative(process.cwd(), path) || '.';
}
