import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { decodeYamlText, splitDocuments } from '../../../core/manifests/index.ts';
import { type JsonValue, parseYaml } from '../../../core/sdk.ts';
import { decodedKind } from '../../bundle-checks/index.ts';

/** Package data from the folder around a bundle. */
export interface InferredPackage {
  readonly packageName: string;
  readonly defaultChannel: string;
  /** Names, sorted. */
  readonly channels: readonly string[];
}

/**
 * Package and channels of a bundle in OLM's package manifests format, the one before bundle images:
 * folders of manifests beside a `*.package.yaml`, which names the newest version of each channel.
 * @throws TerminalError in opm's words.
 */
export async function inferPackage(directory: string): Promise<InferredPackage> {
  const csv = await explained('error loading CSV from bundle directory', () =>
    versionIn(directory),
  );
  const name = nameOf(csv);
  const parent = dirname(directory);
  const replaced = await explained('error getting CSVs from bundles in the package directory', () =>
    replacedNames(parent),
  );
  const manifest = await explained(
    'error parsing package.yaml file in the package root directory',
    () => packageManifest(parent),
  );
  const channels = listOf(fieldAt(manifest, 'channels'));
  const names = channels
    .filter((channel) => reaches(stringAt(channel, 'currentCSV') ?? '', name, replaced))
    .map((channel) => stringAt(channel, 'name') ?? '');
  return {
    packageName: stringAt(manifest, 'packageName') ?? '',
    defaultChannel: defaultChannel(manifest, channels),
    channels: names.toSorted(),
  };
}

async function explained<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new TerminalError(`${what}, ${errorMessage(error)}`, { cause: error });
  }
}

/** Defaults to the only channel of a package with one channel. */
function defaultChannel(manifest: unknown, channels: readonly unknown[]): string {
  const named = stringAt(manifest, 'defaultChannel') ?? '';
  if (named !== '') return named;
  return channels.length === 1 ? (stringAt(channels[0], 'name') ?? '') : '';
}

/** Whether a path of replaces and skips leads from one version to the other. */
function reaches(
  from: string,
  to: string,
  replaced: ReadonlyMap<string, readonly string[]>,
): boolean {
  const seen = new Set([from]);
  for (const name of seen) {
    if (name === to) return true;
    for (const next of replaced.get(name) ?? []) seen.add(next);
  }
  return false;
}

async function replacedNames(parent: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const entries = await readdir(parent, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const replaced = new Map<string, readonly string[]>();
  for (const folder of folders.toSorted()) {
    const csv = await versionIn(join(parent, folder));
    const skips = listOf(fieldAt(csv, 'spec', 'skips')).filter((each) => typeof each === 'string');
    const replaces = stringAt(csv, 'spec', 'replaces') ?? '';
    replaced.set(nameOf(csv), replaces === '' ? skips : [...skips, replaces]);
  }
  return replaced;
}

function nameOf(csv: unknown): string {
  return stringAt(csv, 'metadata', 'name') ?? '';
}

/** The one ClusterServiceVersion among a folder's files. */
async function versionIn(folder: string): Promise<JsonValue> {
  const found = (await documentsIn(folder)).filter(
    (value) => decodedKind(value) === 'ClusterServiceVersion',
  );
  if (found.length > 1) {
    throw new TerminalError('more than one ClusterServiceVersion is found in bundle');
  }
  const [csv] = found;
  if (csv === undefined) {
    throw new TerminalError(`no ClusterServiceVersion object found in ${folder}`);
  }
  return csv;
}

async function packageManifest(folder: string): Promise<JsonValue> {
  const found = (await documentsIn(folder)).find(
    (value) => isMap(value) && stringAt(value, 'packageName') !== undefined,
  );
  if (found !== undefined) return found;
  throw new TerminalError(`valid PackageManifest YAML file not found in ${folder}, `);
}

/** The first document of each file that can be read. */
async function documentsIn(folder: string): Promise<readonly JsonValue[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const documents: JsonValue[] = [];
  for (const file of files.toSorted()) {
    try {
      const [first] = splitDocuments(decodeYamlText(await readFile(join(folder, file))));
      if (first !== undefined) documents.push(parseYaml(first.text));
    } catch {
      // The folder may have other files.
    }
  }
  return documents;
}
