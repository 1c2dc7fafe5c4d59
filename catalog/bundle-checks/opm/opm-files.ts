import { stringifyJson } from '../../../api/json.ts';
import { isMap, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { errorMessage } from '../../../core/errors.ts';
import { decodeYamlText, splitDocuments } from '../../../core/manifests/index.ts';
import { parseYaml } from '../../../core/sdk.ts';

/** An entry of `manifests/` as opm reads it: only the first of several documents. */
export interface OpmFile {
  readonly name: string;
  readonly isDirectory?: true;
  /** opm's error for an unreadable entry. */
  readonly problem?: string;
  readonly object?: KubernetesObject;
  /** Empty if there is no object. */
  readonly kind: string;
}

/** The entries of `manifests/` in the order of their names. */
export function opmFiles({ files, directories }: BundleFiles): readonly OpmFile[] {
  const entries = [...files.keys(), ...directories].filter((path) =>
    /^manifests\/[^/]+$/.test(path),
  );
  return entries
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => {
      const name = path.slice('manifests/'.length);
      const content = files.get(path);
      return content === undefined
        ? { name, isDirectory: true, kind: '' }
        : { name, ...readObject(content) };
    });
}

function readObject(content: Uint8Array): Omit<OpmFile, 'name'> {
  if (content.byteLength === 0) return { problem: 'EOF', kind: '' };
  try {
    const [first] = splitDocuments(decodeYamlText(content).replaceAll('\r\n', '\n'));
    if (first === undefined) return { problem: 'EOF', kind: '' };
    return objectOf(parseYaml(first.text), jsonIn(first.text));
  } catch (error) {
    return { problem: errorMessage(error), kind: '' };
  }
}

/** Source text of what opm reads as JSON; undefined for YAML. */
function jsonIn(text: string): string | undefined {
  const written = text.trim();
  if (!written.startsWith('{')) return undefined;
  try {
    JSON.parse(written);
    return written;
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown, json: string | undefined): Omit<OpmFile, 'name'> {
  // A document without content is an object without a kind.
  if (value === null) return { kind: '', object: { apiVersion: '', kind: '', metadata: {} } };
  const kind = decodedKind(value);
  if (isMap(value) && kind !== '') {
    const apiVersion = stringAt(value, 'apiVersion') ?? '';
    return { kind, object: { ...value, apiVersion, kind, metadata: mapOf(value['metadata']) } };
  }
  if (json !== undefined) return { kind: '', problem: `Object 'Kind' is missing in '${json}'` };
  const decoding = 'error unmarshaling JSON: while decoding JSON: ';
  const problem = isMap(value)
    ? `Object 'Kind' is missing in '${stringifyJson(value)}'`
    : `json: cannot unmarshal ${goType(value)} into Go value of type map[string]interface {}`;
  return { kind: '', problem: decoding + problem };
}

/** Kind of an object as Kubernetes' decoders read it: an invalid `apiVersion` makes it empty. */
export function decodedKind(value: unknown): string {
  const isVersion = (stringAt(value, 'apiVersion') ?? '').split('/').length <= 2;
  return isVersion ? (stringAt(value, 'kind') ?? '') : '';
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';
}
