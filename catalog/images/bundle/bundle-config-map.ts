import { gzipSync } from 'node:zlib';
import { fieldAt } from '../../../api/json-fields.ts';
import { TerminalError } from '../../../core/errors.ts';
import { type JsonValue, parseYaml } from '../../../core/sdk.ts';

/** A file of a bundle: its name alone, since ConfigMaps have no folders. */
export interface ConfigMapFile {
  readonly name: string;
  readonly content: Uint8Array;
}

export interface ConfigMapOptions {
  /** Compress each file with gzip; an annotation tells OLM about it. */
  readonly gzip: boolean;
  /** Maximum total size of all files in bytes, as stored (after gzip and base64). */
  readonly limit: bigint;
  /** Image of the files; empty for none. */
  readonly sourceImage: string;
  /** Called for each file whose name is not a valid key, with the key that replaces it. */
  readonly onTranslated: (name: string, key: string) => void;
  /** Called for the file that exceeds the limit. */
  readonly onExceeded: (name: string) => void;
}

/** Content that OLM's unpack Jobs write into a ConfigMap. */
export interface BundleConfigMap {
  readonly data: Readonly<Record<string, string>>;
  /** Values in base64, as in the API. */
  readonly binaryData: Readonly<Record<string, string>>;
  /** Replaces the ConfigMap's annotations; undefined for a bundle without annotations.yaml. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** Added to the ConfigMap's annotations. */
  readonly addedAnnotations: Readonly<Record<string, string>>;
}

const annotationsFile = 'annotations.yaml';

/**
 * The files of a bundle as `opm alpha bundle extract` stores them: annotations.yaml becomes
 * annotations, other files become keys.
 * @throws TerminalError for files that exceed the limit
 */
export function bundleConfigMap(
  files: Iterable<ConfigMapFile>,
  { gzip, limit, sourceImage, onTranslated, onExceeded }: ConfigMapOptions,
): BundleConfigMap {
  const data: Record<string, string> = {};
  const binaryData: Record<string, string> = {};
  let annotations: BundleConfigMap['annotations'];
  let size = 0n;
  for (const { name, content } of files) {
    if (name === annotationsFile) {
      annotations = annotationsIn(parseYaml(content));
      continue;
    }
    const stored = gzip ? Buffer.from(gzipSync(content).toString('base64')) : content;
    size += BigInt(stored.byteLength);
    if (size > limit) {
      onExceeded(name);
      throw new TerminalError(`bundle files exceeded ${limit} bytes limit`);
    }
    const key = configMapKey(name);
    if (key !== name) onTranslated(name, key);
    if (gzip) binaryData[key] = Buffer.from(stored).toString('base64');
    else data[key] = Buffer.from(stored).toString('utf8');
  }
  const source = sourceImage === '' ? {} : { 'olm.sourceImage': sourceImage };
  const encoding = gzip ? { 'olm.contentEncoding': 'gzip+base64' } : {};
  return { data, binaryData, annotations, addedAnnotations: { ...source, ...encoding } };
}

/** ConfigMaps allow only these characters in keys. */
function configMapKey(name: string): string {
  return name.replaceAll(/[^-A-Za-z0-9_.]/g, '-');
}

const names = ['manifests', 'mediatype', 'metadata', 'package', 'channels', 'channel.default'];

/** The standard annotations of bundles, with empty texts for missing ones. */
function annotationsIn(value: JsonValue): Readonly<Record<string, string>> {
  const keys = names.map((name) => `operators.operatorframework.io.bundle.${name}.v1`);
  return Object.fromEntries(
    keys.map((key) => {
      const text = fieldAt(value, 'annotations', key);
      return [key, typeof text === 'string' ? text : ''];
    }),
  );
}
