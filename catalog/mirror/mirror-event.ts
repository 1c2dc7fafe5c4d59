import type { Descriptor, KeptTag, WholeImage } from '../../core/registry/index.ts';

/** Progress of a run, for observers. */
export type MirrorEvent =
  /** The run has read all manifests: `bytes` is the size of their blobs, each counted once. */
  | { readonly kind: 'planned'; readonly images: number; readonly bytes: number }
  /** The run is done with these bytes; `sent` is false for those that it did not have to send. */
  | { readonly kind: 'bytes'; readonly bytes: number; readonly sent: boolean }
  | { readonly kind: 'copied' | 'present'; readonly source: string; readonly digest: string }
  /** The run reads a catalog and its bundles, to list their images. */
  | { readonly kind: 'reading'; readonly source: string }
  /** What the run mirrors that the image set does not name, or leaves as it is, and why. */
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'failed'; readonly source: string; readonly problem: string };

/** The size of what a run copies. */
export function planOf(images: readonly WholeImage[]): MirrorEvent {
  const blobs = new Map<string, Descriptor>();
  for (const content of images) {
    for (const blob of content.blobs) blobs.set(blob.digest, blob);
  }
  const bytes = [...blobs.values()].reduce((sum, { size }) => sum + size, 0);
  return { kind: 'planned', images: images.length, bytes };
}

/** Says of a tag why the run leaves it as it is, and how to change that. */
export function noteOf({ name, tag, reason }: KeptTag): MirrorEvent {
  const text = `${name}:${tag} stays as it is, without what the source has under this tag: ${reason}; to have the source's, delete the tag, and run the same command again`;
  return { kind: 'note', text };
}
