import { isUtf8 } from 'node:buffer';
import { posix } from 'node:path';
import type { Fields } from './fields.ts';
import type { Folder } from './folder.ts';
import { quoted } from './quoted.ts';
import type { Value } from './value.ts';

/** The `data` and `binaryData` of a generated ConfigMap. */
export function dataOf(entry: Value, folder: Folder): Fields {
  const pairs = pairsOf(entry, folder);
  const [texts, binaries] = [pairs.filter(isText), pairs.filter((pair) => !isText(pair))];
  return {
    ...(texts.length === 0 ? {} : { data: toFields(texts, (value) => value.toString()) }),
    ...(binaries.length === 0 ? {} : { binaryData: toFields(binaries, base64) }),
  };
}

/** The `data` of a generated Secret. */
export function encodedDataOf(entry: Value, folder: Folder): Fields {
  return { data: toFields(pairsOf(entry, folder), base64) };
}

type Pair = readonly [key: string, value: Buffer];

function pairsOf(entry: Value, folder: Folder): readonly Pair[] {
  const pairs = [
    ...entry.get('literals').list().map(literal),
    ...entry
      .get('files')
      .list()
      .map((source) => file(source, folder)),
  ];
  const keys = pairs.map(([key]) => key);
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined) throw entry.refused(`has the key ${quoted(twice)} twice`);
  const bad = keys.find((key) => !/^[-._a-zA-Z0-9]+$/.test(key));
  if (bad !== undefined)
    throw entry.refused(
      `has the key ${quoted(bad)}: only letters, digits, "-", "_" and "." may be in one`,
    );
  return pairs;
}

function literal(source: Value): Pair {
  const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(source.text()) ?? [];
  if (key === undefined) throw source.refused('must be key=value');
  const isQuoted = /^(['"]).*\1$/s.test(value) && value.length > 1;
  return [key, Buffer.from(isQuoted ? value.slice(1, -1) : value)];
}

function file(source: Value, folder: Folder): Pair {
  const [name = '', path, more] = source.text().split('=');
  if (name === '' || path === '' || more !== undefined)
    throw source.refused('must be path or key=path');
  const { content } = folder.file(source, path ?? name);
  return [path === undefined ? posix.basename(name) : name, Buffer.from(content)];
}

function isText([, value]: Pair): boolean {
  return isUtf8(value);
}

function toFields(pairs: readonly Pair[], write: (value: Buffer) => string): Fields {
  return Object.fromEntries(pairs.map(([key, value]) => [key, write(value)]));
}

/** In lines of 70 letters where there is more than one, as kustomize writes it. */
function base64(value: Buffer): string {
  const text = value.toString('base64');
  return text.length < 70 ? text : text.replaceAll(/.{1,70}/g, '$&\n');
}
