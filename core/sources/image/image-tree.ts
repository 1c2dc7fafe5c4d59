import { BundleFilesBuilder } from '../../content/index.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';

interface Directory {
  readonly kind: 'directory';
  readonly children: Map<string, Node>;
}

interface File {
  readonly kind: 'file';
  readonly content: Uint8Array;
}

/** Bundles contain no links, but a link replaces what was at its path. */
interface Symlink {
  readonly kind: 'symlink';
}

export type Leaf = File | Symlink;
export type Node = Directory | Leaf;

/** Path parts. */
export type Path = readonly string[];

/** A file tree as layers write it: later entries replace earlier ones. */
export class ImageTree {
  readonly #root: Directory = directory();

  find(path: Path): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const part of path) {
      if (node?.kind !== 'directory') return undefined;
      node = node.children.get(part);
    }
    return node;
  }

  /** Returns the number of new entries, including parents. */
  addDirectory(path: Path): number {
    let made = 0;
    let node = this.#root;
    for (const part of path) {
      const child = node.children.get(part);
      if (child?.kind === 'directory') {
        node = child;
        continue;
      }
      const added = directory();
      node.children.set(part, added);
      node = added;
      made += 1;
    }
    return made;
  }

  addLeaf(path: Path, leaf: Leaf): number {
    const parent = path.slice(0, -1);
    const made = this.addDirectory(parent);
    const node = this.find(parent);
    if (node?.kind === 'directory') node.children.set(path.at(-1) ?? '', leaf);
    return made + 1;
  }

  remove(path: Path): void {
    const parent = this.find(path.slice(0, -1));
    if (parent?.kind === 'directory') parent.children.delete(path.at(-1) ?? '');
  }

  /** Removes the content of a directory. */
  clear(path: Path): void {
    const node = this.find(path);
    if (node?.kind === 'directory') node.children.clear();
  }

  /** Puts another tree on top of this one, which takes over its nodes. */
  overlay(tree: ImageTree): void {
    overlayDirectory(this.#root, tree.#root);
  }

  /** The files and directories of the tree. */
  bundleFiles(limits: ContentLimits): BundleFiles {
    const builder = new BundleFilesBuilder(limits);
    addTo(builder, this.#root, '');
    return builder.build();
  }
}

function directory(): Directory {
  return { kind: 'directory', children: new Map() };
}

function overlayDirectory(lower: Directory, upper: Directory): void {
  for (const [name, node] of upper.children) {
    const below = lower.children.get(name);
    if (node.kind === 'directory' && below?.kind === 'directory') overlayDirectory(below, node);
    else lower.children.set(name, node);
  }
}

function addTo(builder: BundleFilesBuilder, { children }: Directory, prefix: string): void {
  for (const [name, node] of children) {
    const path = prefix + name;
    if (node.kind === 'file') builder.addFile(path, node.content);
    if (node.kind === 'directory') {
      builder.addDirectory(path);
      addTo(builder, node, `${path}/`);
    }
  }
}
