import { z } from 'zod';
import { TerminalError } from '../../errors.ts';
import type { TypedDescriptor } from '../manifest.ts';
import { listedManifests } from '../manifest-parts.ts';
import { mediaTypes } from '../media-types.ts';
import { digestProblem } from '../reference.ts';

export const layoutFile = 'oci-layout';
export const indexFile = 'index.json';
export const layoutText = '{"imageLayoutVersion":"1.0.0"}\n';
/** Of an index.json; some hundred bytes for each image. */
export const maxIndexSize = 64 * 1024 * 1024;

const nameAnnotation = 'org.opencontainers.image.ref.name';
const layoutSchema = z.object({ imageLayoutVersion: z.string() });

/** Where a layout keeps content: `blobs/sha256/<hex>`. */
export function blobPath(digest: string): string {
  if (digestProblem(digest) !== undefined) throw new TerminalError(`${digest} is no digest`);
  return `blobs/${digest.replace(':', '/')}`;
}

/**
 * Reads the file `oci-layout`.
 * @throws TerminalError for a version that nobody has defined yet
 */
export function checkLayoutVersion(bytes: Uint8Array): void {
  const version = versionOf(bytes);
  if (version?.startsWith('1.') === true) return;
  throw new TerminalError(`${layoutFile} does not say imageLayoutVersion 1.0.0`);
}

function versionOf(bytes: Uint8Array): string | undefined {
  try {
    return layoutSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).imageLayoutVersion;
  } catch {
    return undefined;
  }
}

/** What an OCI layout lists: manifests, some of them with a name (OCI image spec, image-layout). */
export class LayoutIndex {
  /** By name, or by digest where an entry has none: no name has a colon after the algorithm's. */
  readonly #entries = new Map<string, TypedDescriptor>();
  /** A mirror's layout lists thousands. */
  readonly #digests = new Map<string, TypedDescriptor>();

  constructor(entries: readonly TypedDescriptor[] = []) {
    for (const entry of entries) this.#put(nameOf(entry) ?? entry.digest, entry);
  }

  /** @throws TerminalError for what is no index.json */
  static parse(bytes: Uint8Array): LayoutIndex {
    const content = { bytes, digest: '', contentType: mediaTypes.ociIndex };
    return new LayoutIndex(listedManifests(content));
  }

  get entries(): readonly TypedDescriptor[] {
    return [...this.#entries.values()];
  }

  /** The names of the layout's images, in its order. */
  get names(): readonly string[] {
    return this.entries.map(nameOf).filter((name) => name !== undefined);
  }

  /** By name, or by digest. */
  find(reference: string): TypedDescriptor | undefined {
    return this.#entries.get(reference) ?? this.#digests.get(reference);
  }

  /** Lists a manifest; a name that another one had is its own from now on. */
  put(descriptor: TypedDescriptor, name: string | undefined): void {
    if (name === undefined) {
      if (!this.#entries.has(descriptor.digest)) this.#put(descriptor.digest, descriptor);
      return;
    }
    // One that has got a name needs no entry without.
    this.#entries.delete(descriptor.digest);
    const annotations = { ...descriptor.annotations, [nameAnnotation]: name };
    this.#put(name, { ...descriptor, annotations });
  }

  #put(key: string, entry: TypedDescriptor): void {
    this.#entries.set(key, entry);
    this.#digests.set(entry.digest, entry);
  }

  toBytes(): Uint8Array {
    const document = {
      schemaVersion: 2,
      mediaType: mediaTypes.ociIndex,
      manifests: this.entries,
    };
    return Buffer.from(`${JSON.stringify(document)}\n`);
  }
}

function nameOf({ annotations }: TypedDescriptor): string | undefined {
  const name = annotations?.[nameAnnotation];
  return name === undefined || name === '' ? undefined : name;
}
