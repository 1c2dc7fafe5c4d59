import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compareBytes } from '../../../api/byte-order.ts';
import { goFileError } from '../../../api/go-file-error.ts';
import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { isMap, stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { jsonText } from '../../blobs/index.ts';
import { firstDocument } from '../first-document.ts';
import { withObjectNumbers } from '../go-integers.ts';

/** Reports a problem of a bundle that is not an error. */
export type Warn = (message: string) => void;

/** An entry of a directory with its content, or the error of reading it. */
export interface BundleFile {
  readonly name: string;
  readonly content: Uint8Array | Error;
}

/** Files of `manifests/` or `metadata/` of a bundle directory, in the order of their names. */
export async function* filesOf(dir: string): AsyncIterable<BundleFile> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
    throw new TerminalError(goFileError(error, '.') ?? errorMessage(error), { cause: error });
  });
  const files = entries.filter((entry) => !entry.isDirectory());
  for (const { name } of files.toSorted((a, b) => compareBytes(a.name, b.name))) {
    yield { name, content: await contentOf(join(dir, name)).catch(asError) };
  }
}

/** A pipe would be waited for, and some devices never end. */
async function contentOf(path: string): Promise<Uint8Array> {
  const stats = await stat(path).catch(() => undefined);
  const isReadable = stats === undefined || stats.isFile() || stats.isDirectory();
  if (isReadable) return await readFile(path);
  throw new TerminalError(`${path} is a pipe or device: a bundle consists of files`);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorMessage(error));
}

export interface BundleObject {
  readonly kind: string;
  readonly version: string;
  readonly group: string;
  readonly value: JsonObject;
  /** The object as catalogs embed it. */
  readonly json: string;
}

/**
 * Objects of the files of `manifests/` as opm reads them: the first document of each file, no
 * hidden files, only the first of several ClusterServiceVersions. `warn` reports others, and objects
 * that cannot be decoded.
 */
export async function bundleObjects(dir: string, warn: Warn): Promise<readonly BundleObject[]> {
  const objects: BundleObject[] = [];
  for await (const file of filesOf(dir)) {
    if (file.name.startsWith('.')) continue;
    const object = readObject(file, warn);
    if (object === undefined) continue;
    if (isServiceVersion(object) && objects.some(isServiceVersion)) {
      warn(`${file.name} has another ClusterServiceVersion, using only the first one`);
    } else objects.push(object);
  }
  return objects;
}

export function isServiceVersion({ kind }: BundleObject): boolean {
  return kind === 'ClusterServiceVersion';
}

function readObject({ name, content }: BundleFile, warn: Warn): BundleObject | undefined {
  try {
    if (content instanceof Error) throw content;
    const { value, more } = firstDocument(content);
    const object = value === null ? undefined : objectOf(value);
    if (more) warn(`found more than one document inside ${name}, using only the first one`);
    return object;
  } catch (error) {
    warn(`failed to decode: ${errorMessage(error)} (${name})`);
    return undefined;
  }
}

/** @throws TerminalError for anything but an object with a kind. */
export function objectOf(value: JsonValue): BundleObject {
  if (!isMap(value)) {
    const type = Array.isArray(value) ? 'array' : typeof value;
    throw new TerminalError(
      `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    );
  }
  const kind = stringAt(value, 'kind') ?? '';
  const parts = (stringAt(value, 'apiVersion') ?? '').split('/');
  const json = jsonText(withObjectNumbers(value), { escapeHtml: true, sorted: true });
  if (kind === '' || parts.length > 2) {
    throw new TerminalError(`Object 'Kind' is missing in '${json}'`);
  }
  const version = parts.at(-1) ?? '';
  return { kind, version, group: parts.length === 2 ? (parts[0] ?? '') : '', value, json };
}
