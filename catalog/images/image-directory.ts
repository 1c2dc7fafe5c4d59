import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TarEntry } from '../../core/content/index.ts';
import { quoted, TerminalError } from '../../core/errors.ts';

type Kind = 'file' | 'symlink' | 'directory';

const whiteoutPrefix = '.wh.';
const opaqueWhiteout = '.wh..wh..opq';

/**
 * Writes an image's layers into a directory, the top one first. Skips paths that an upper layer has
 * or hides, so it never removes files of another layer. Never writes through a link.
 */
export class ImageDirectory {
  readonly #root: string;
  /** Kinds of the written entries, by path. */
  readonly #kinds = new Map<string, Kind>();
  /** Paths that upper layers hide, with all below them. */
  readonly #hidden = new Set<string>();
  /** Directories whose content upper layers hide. */
  readonly #opaque = new Set<string>();
  #layer = new Set<string>();
  #whiteouts: string[] = [];
  #opaqueHere: string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** Ends a layer: from now on, its whiteouts and files hide paths of lower layers. */
  endLayer(): void {
    for (const path of this.#whiteouts) this.#hidden.add(path);
    for (const path of this.#opaqueHere) this.#opaque.add(path);
    // A file hides entries of lower layers below its path.
    for (const path of this.#layer)
      if (this.#kinds.get(path) !== 'directory') this.#hidden.add(path);
    this.#whiteouts = [];
    this.#opaqueHere = [];
    this.#layer = new Set();
  }

  async add(entry: TarEntry): Promise<void> {
    const path = clean(entry.path);
    if (path === '') return;
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name.startsWith(whiteoutPrefix)) {
      this.#addWhiteout(path.slice(0, -name.length - 1), name);
      return;
    }
    if (this.#isHidden(path)) return;
    switch (entry.type) {
      case 'directory':
        return await this.#addDirectory(path);
      case 'file':
        return await this.#addLeaf(path, 'file', (to) => writeFile(to, entry.content));
      case 'symlink': {
        const target = checkedTarget(path, entry);
        return await this.#addLeaf(path, 'symlink', (to) => symlink(target, to));
      }
      case 'hardlink':
      case 'other':
        break;
    }
    throw new TerminalError(
      `${quoted(entry.path)} is a ${entry.type === 'hardlink' ? 'hard link' : 'device or special file'}, which no catalog or bundle has`,
    );
  }

  #addWhiteout(folder: string, name: string): void {
    if (name === opaqueWhiteout) this.#opaqueHere.push(folder);
    // Other names of this form are bookkeeping of AUFS.
    else if (!name.startsWith('.wh..wh.')) {
      const hidden = name.slice(whiteoutPrefix.length);
      this.#whiteouts.push(folder === '' ? hidden : `${folder}/${hidden}`);
    }
  }

  #isHidden(path: string): boolean {
    if (this.#hidden.has(path)) return true;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = path.slice(0, end);
      if (this.#hidden.has(above) || this.#opaque.has(above)) return true;
    }
    return this.#opaque.has('');
  }

  async #addDirectory(path: string): Promise<void> {
    const kind = this.#kinds.get(path);
    if (kind === 'directory') return;
    // A file of this layer, as `add` skips paths below files of upper layers. The directory
    // replaces it.
    if (kind !== undefined) await rm(join(this.#root, path));
    const above = dirname(path);
    if (above !== '.') await this.#addDirectory(above);
    await mkdir(join(this.#root, path));
    this.#note(path, 'directory');
  }

  async #addLeaf(path: string, kind: Kind, write: (to: string) => Promise<void>): Promise<void> {
    const known = this.#kinds.get(path);
    // A directory of an upper layer wins over a file; a later entry of this layer replaces a file.
    if (known !== undefined && !this.#layer.has(path)) return;
    const above = dirname(path);
    if (above !== '.') await this.#addDirectory(above);
    if (known === 'directory') {
      throw new TerminalError(`the layer has both a file and a directory at ${quoted(path)}`);
    }
    if (known !== undefined) await rm(join(this.#root, path));
    await write(join(this.#root, path));
    this.#note(path, kind);
  }

  #note(path: string, kind: Kind): void {
    this.#kinds.set(path, kind);
    this.#layer.add(path);
  }
}

function clean(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/**
 * The target of a link as the way up to the image's root and down from there. No `..` follows a
 * name: where that name is a link too, the kernel would climb from another folder than this one.
 * @throws TerminalError for a target outside of the image
 */
function checkedTarget(path: string, { linkPath = '', path: shown }: TarEntry): string {
  const folder = path.split('/').slice(0, -1);
  const parts = linkPath.startsWith('/') ? [] : [...folder];
  for (const part of linkPath.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) {
      throw new TerminalError(
        `symlink ${quoted(shown)} points outside of the image: ${quoted(linkPath)}`,
      );
    }
  }
  return [...folder.map(() => '..'), ...parts].join('/') || '.';
}
