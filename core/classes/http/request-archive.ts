import { setImmediate as othersTurn } from 'node:timers/promises';
import { stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { tarParts, type WrittenEntry } from '../../content/index.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';

export interface RequestContent {
  /** The Bundle or BundleDeployment. */
  readonly object: KubernetesObject;
  readonly context: object;
  /** Undefined for a request before there is content. */
  readonly files?: BundleFiles;
}

/** The body of a request; may be sent several times. */
export interface RequestArchive {
  readonly byteLength: number;
  chunks(): Iterable<Uint8Array>;
}

const chunkSize = 65_536;
/** Entries to write before yielding: some milliseconds. */
const partsAtOnce = 2_000;

/**
 * One tar with the whole request: `object.json`, `context.json` and the content below `content/`.
 * Its file contents are views of memory, not copies.
 */
export async function requestArchive(content: RequestContent): Promise<RequestArchive> {
  const parts: Uint8Array[] = [];
  let byteLength = 0;
  for (const part of tarParts(entriesOf(content))) {
    parts.push(part);
    byteLength += part.byteLength;
    if (parts.length % partsAtOnce === 0) await othersTurn();
  }
  return { byteLength, chunks: () => chunksOf(parts) };
}

function* entriesOf({ object, context, files }: RequestContent): Generator<WrittenEntry> {
  yield { path: 'object.json', content: Buffer.from(stringifyJson(withoutManagers(object))) };
  yield { path: 'context.json', content: Buffer.from(stringifyJson(context)) };
  if (files === undefined) return;
  yield { path: 'content' };
  for (const path of [...files.directories, ...files.files.keys()].sort()) {
    yield { path: `content/${path}`, content: files.files.get(path) };
  }
}

/** managedFields are long and useless for a class. */
function withoutManagers(object: KubernetesObject): object {
  const { managedFields: _, ...metadata } = object.metadata as { readonly managedFields?: unknown };
  return { ...object, metadata };
}

/** Joins small parts, because a write to the socket costs more than a copy. */
function* chunksOf(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let batch: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    batch.push(part);
    size += part.byteLength;
    if (size < chunkSize) continue;
    yield batch.length === 1 ? part : Buffer.concat(batch);
    batch = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(batch);
}
