import { z } from 'zod';
import { TerminalError } from '../../errors.ts';
import type { TypedDescriptor } from '../manifest.ts';
import { listedManifests } from '../manifest-parts.ts';
import { mediaTypes } from '../media-types.ts';
import { digestProblem } from '../reference.ts';

export const layoutFile = 'oci-layout';
export const indexFile = 'index.json';
export const layoutText = '{"imageLayoutVersion":"1.0.0"}\n';
/** Maximum bytes of an index.json, with a few hundred bytes per image. */
export const maxIndexSize = 64 * 1024 * 1024;

const nameAnnotation = 'org.opencontainers.image.ref.name';
const layoutSchema = z.object({ imageLayoutVersion: z.string() });

/** Path of content in a layout: `blobs/sha256/<hex>`. */
export function blobPath(digest: string): string {
  if (digestProblem(digest) !== undefined) throw new TerminalError(`${digest} is no digest`);
  return `blobs/${digest.replace(':', '/')}`;
}

/**
 * Checks the file `oci-layout`.
 * @throws TerminalError for an unsupported version
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

/** Index of an OCI layout: its manifests, some with a name (OCI image spec, image-layout). */
export class LayoutIndex {
  /** By name, or by digest for entries without a name. */
  readonly #entries = new Map<string, TypedDescriptor>();
  /** For fast lookups: the layout of a mirror lists thousands. */
  readonly #digests = new Map<string, TypedDescriptor>();

  constructor(entries: readonly TypedDescriptor[] = []) {
    for (const entry of entries) this.#put(nameOf(entry) ?? entry.digest, entry);
  }

  /**
   * @param isThere whether the layout has a manifest; others count as not listed (default: all)
   * @throws TerminalError for an invalid index.json
   */
  static parse(bytes: Uint8Array, isThere: (digest: string) => boolean = () => true): LayoutIndex {
    const content = { bytes, digest: '', contentType: mediaTypes.ociIndex };
    return new LayoutIndex(listedManifests(content).filter(({ digest }) => isThere(digest)));
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

  /** Lists a manifest; takes the name away from a manifest that had it before. */
  put(descriptor: TypedDescriptor, name: string | undefined): void {
    if (name === undefined) {
      if (!this.#entries.has(descriptor.digest)) this.#put(descriptor.digest, descriptor);
      return;
    }
    // A manifest with a name needs no second entry without one.
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

/** A digest is no name: a layout of strangers could pass another image off as the pinned one. */
function nameOf({ annotations }: TypedDescriptor): string | undefined {
  const name = annotations?.[nameAnnotation] ?? '';
  return name === '' || digestProblem(name) === undefined ? undefined : name;
}
