import { readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { compareBytes } from '../../api/byte-order.ts';
import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import type { RegistryAccess } from '../../core/registry/index.ts';
import type { CatalogConfig, OlmBundle } from '../blobs/index.ts';
import type { TemporaryImage } from '../images/index.ts';
import { configOf, loadDirectory } from '../load/index.ts';
import type { Warn } from './bundle/bundle-objects.ts';
import { objectsLast } from './bundle/bundle-properties.ts';
import { inOrder } from './csv/related-images.ts';
import { type ImageTemplate, templatedImage } from './image-template.ts';
import { embeddedCsv } from './sqlite/migrations.ts';

/** Kinds of sources that a reference may name. */
export type ReferenceKind =
  | 'bundle directory'
  | 'bundle image'
  | 'declarative config directory'
  | 'declarative config image'
  | 'sqlite file'
  | 'sqlite image';

/** Kinds that are whole catalogs. */
export const catalogKinds: ReadonlySet<ReferenceKind> = new Set([
  'declarative config directory',
  'declarative config image',
  'sqlite file',
  'sqlite image',
]);

/** Thrown for a reference of a kind that is not allowed. */
export class KindNotAllowed extends TerminalError {}

export interface ReferenceOptions {
  /** Called for the first image: other references load no registry code. */
  readonly registry: () => Promise<RegistryAccess>;
  readonly signal: AbortSignal;
  /** Defaults to all kinds. */
  readonly allowed?: ReadonlySet<ReferenceKind> | undefined;
  /** Image of a bundle in a directory; defaults to none. */
  readonly imageTemplate?: ImageTemplate | undefined;
  readonly warn?: Warn | undefined;
  /** Called for each SQLite database, a format that upstream has deprecated. */
  readonly onDatabase?: (() => void) | undefined;
}

/** A piece of a catalog, and the ClusterServiceVersion of each of its bundles. */
export interface CatalogPart {
  readonly config: CatalogConfig;
  /** JSON; empty if there is none. */
  readonly csvOf: (bundle: OlmBundle) => string;
}

/**
 * The content of a reference, piece by piece: of a catalog's directory one blob at a time.
 * @throws TerminalError `render reference "…": …`
 */
export async function* partsOfReference(
  reference: string,
  options: ReferenceOptions,
): AsyncGenerator<CatalogPart> {
  try {
    for await (const part of await partsOf(reference, options)) yield inOpmsOrder(part);
  } catch (error) {
    options.signal.throwIfAborted();
    const message = `render reference ${goQuote(reference)}: ${errorMessage(error)}`;
    throw new TerminalError(message, { cause: error });
  }
}

/** Generators are not nested: each would cost some turns of the microtask queue for each part. */
type CatalogParts = AsyncIterable<CatalogPart> | Iterable<CatalogPart>;

async function partsOf(reference: string, options: ReferenceOptions): Promise<CatalogParts> {
  const stats = statSync(reference, { throwIfNoEntry: false });
  if (stats === undefined) return partsOfImage(reference, options);
  if (stats.isDirectory()) return await partsOfDirectory(reference, options);
  await checkDatabase(reference);
  checkAllowed('sqlite file', options);
  return [await partOfDatabase(reference, options)];
}

async function partsOfDirectory(dir: string, options: ReferenceOptions): Promise<CatalogParts> {
  const entries = readdirSync(dir, { withFileTypes: true });
  const folders = new Set(entries.filter((each) => each.isDirectory()).map(({ name }) => name));
  const isLayout = entries.some(({ name }) => name === 'oci-layout');
  if (folders.has('manifests') && folders.has('metadata')) {
    if (!isAllowed('bundle directory', options)) {
      throw new KindNotAllowed(`cannot render bundle directory ${goQuote(dir)}: not allowed`);
    }
    return [await partOfBundle(dir, templatedImage(options.imageTemplate, dir), options)];
  }
  if (isLayout) return partsOfImage(dir, options);
  checkAllowed('declarative config directory', options);
  return partsOfCatalog(dir, options.signal);
}

async function* partsOfCatalog(dir: string, signal: AbortSignal): AsyncGenerator<CatalogPart> {
  for await (const blob of loadDirectory(dir, { signal })) {
    yield { config: configOf(blob), csvOf: embeddedCsv };
  }
}

async function partOfBundle(
  dir: string,
  image: ImageTemplate,
  { warn = () => undefined }: ReferenceOptions,
): Promise<CatalogPart> {
  const { renderBundle } = await import('./bundle/bundle-directory.ts');
  const { bundle, csv } = await renderBundle(dir, image, warn);
  const config = { packages: [], channels: [], bundles: [bundle], deprecations: [], others: [] };
  return { config, csvOf: () => csv };
}

async function partOfDatabase(
  file: string,
  { onDatabase, signal }: ReferenceOptions,
): Promise<CatalogPart> {
  onDatabase?.();
  const { renderDatabase } = await import('./sqlite/sqlite.ts');
  const { config, csvs } = await renderDatabase(file, signal);
  return { config, csvOf: (bundle) => csvs.get(`${bundle.package}/${bundle.name}`) ?? '' };
}

async function checkDatabase(file: string): Promise<void> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(262), 0, 262, 0);
    if (buffer.toString('latin1', 0, Math.min(bytesRead, 4)) === 'SQLi') return;
  } finally {
    await handle.close();
  }
  throw new TerminalError(`ref ${goQuote(file)} has unsupported file type: {{  } unknown}`);
}

async function* partsOfImage(
  reference: string,
  options: ReferenceOptions,
): AsyncGenerator<CatalogPart> {
  const image = await pull(reference, options);
  try {
    yield* partsOfLabelled(reference, image, options);
  } finally {
    await image.close();
  }
}

type Labels = TemporaryImage['labels'];

async function pull(
  reference: string,
  { registry, signal }: ReferenceOptions,
): Promise<TemporaryImage> {
  const { unpackTemporarily } = await import('../images/index.ts');
  try {
    return await unpackTemporarily(reference, { registry: await registry(), signal, only: pathOf });
  } catch (error) {
    signal.throwIfAborted();
    const message = `failed to pull image ${goQuote(reference)}: ${errorMessage(error)}`;
    throw new TerminalError(message, { cause: error });
  }
}

/** Path of the catalog in its image: the rest may be a whole system with hard links and devices. */
function pathOf(labels: Labels): string {
  return join('/', labels[label.database] ?? labels[label.configs] ?? '');
}

const label = {
  database: 'operators.operatorframework.io.index.database.v1',
  configs: 'operators.operatorframework.io.index.configs.v1',
  package: 'operators.operatorframework.io.bundle.package.v1',
};

async function* partsOfLabelled(
  reference: string,
  { dir, labels }: TemporaryImage,
  options: ReferenceOptions,
): AsyncGenerator<CatalogPart> {
  if (labels[label.database] !== undefined) {
    checkAllowed('sqlite image', options);
    yield await partOfDatabase(join(dir, pathOf(labels)), options);
  } else if (labels[label.configs] !== undefined) {
    checkAllowed('declarative config image', options);
    yield* partsOfCatalog(join(dir, pathOf(labels)), options.signal);
  } else if (labels[label.package] !== undefined) {
    checkAllowed('bundle image', options);
    yield await partOfBundle(dir, () => reference, options);
  } else throw unknownImage(reference, labels);
}

function unknownImage(reference: string, labels: Labels): TerminalError {
  const lines = Object.entries(labels)
    .toSorted(([a], [b]) => compareBytes(a, b))
    .map(([key, value]) => `\n  ${key}=${value}`);
  const found = lines.length === 0 ? ': image has no labels' : `, found labels${lines.join('')}`;
  return new TerminalError(
    `render ${goQuote(reference)}: image type could not be determined${found}`,
  );
}

function isAllowed(kind: ReferenceKind, { allowed }: ReferenceOptions): boolean {
  return allowed === undefined || allowed.has(kind);
}

function checkAllowed(kind: ReferenceKind, options: ReferenceOptions): void {
  if (!isAllowed(kind, options)) throw new KindNotAllowed(`cannot render ${kind}: not allowed`);
}

/** Sorts the content of every kind of source: embedded objects last, images by reference. */
function inOpmsOrder({ config, csvOf }: CatalogPart): CatalogPart {
  const bundles = config.bundles.map((bundle) => ({
    ...bundle,
    properties: objectsLast(bundle.properties),
    relatedImages: inOrder(bundle.relatedImages),
  }));
  return { config: { ...config, bundles }, csvOf };
}
