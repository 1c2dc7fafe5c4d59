import { link, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { goFileError } from '../../api/go-file-error.ts';
import type { TarEntry } from '../../core/content/index.ts';
import { quoted, TerminalError } from '../../core/errors.ts';

type Kind = 'file' | 'symlink' | 'directory';

/**
 * How symlinks of an image are written. Hard links are for processes that Node's permissions
 * confine: these may create no symlinks.
 */
export type LinkForm = 'symbolic' | 'hard';

/** Codes of errors that another image would not have. */
const imageFaults = new Set(['EEXIST', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR']);
/** As of Linux. */
const maxLinkBytes = 4095;
const maxHops = 40;

const whiteoutPrefix = '.wh.';
const opaqueWhiteout = '.wh..wh..opq';

/**
 * Writes an image's layers into a directory, the top one first. Skips paths that an upper layer has
 * or hides, so it never removes files of another layer. Never writes through a link: `finish` writes
 * the links, after all files.
 */
export class ImageDirectory {
  readonly #root: string;
  /** Kinds of the written entries, by path. */
  readonly #kinds = new Map<string, Kind>();
  /** Targets of the links of `kinds`, from the image's root and without `..`. */
  readonly #links = new Map<string, readonly string[]>();
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

  /** Number of files, links and directories. */
  get size(): number {
    return this.#kinds.size;
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

  /** @throws TerminalError for an entry that the image is to blame for */
  async add(entry: TarEntry): Promise<void> {
    try {
      await this.#add(entry);
    } catch (error) {
      throw asFault(error, entry.path);
    }
  }

  /**
   * Writes the links. As hard ones, they must lead to files.
   * @throws TerminalError for a link that the image is to blame for
   */
  async finish(form: LinkForm): Promise<void> {
    for (const [path, target] of this.#links) {
      const to = join(this.#root, path);
      try {
        if (form === 'symbolic') await symlink(relativeTarget(path, target), to);
        else await link(join(this.#root, this.#fileOf(path, target)), to);
      } catch (error) {
        throw asFault(error, path);
      }
    }
  }

  /** The file that a link leads to, through other links. */
  #fileOf(path: string, target: readonly string[]): string {
    let left = [...target];
    let found = '';
    let hops = 0;
    while (left.length > 0) {
      const [name = '', ...rest] = left;
      const next = found === '' ? name : `${found}/${name}`;
      const further = this.#links.get(next);
      if (further !== undefined) hops += 1;
      if (hops > maxHops) break;
      left = further === undefined ? rest : [...further, ...rest];
      found = further === undefined ? next : '';
    }
    if (left.length === 0 && this.#kinds.get(found) === 'file') return found;
    const text = quoted(`/${target.join('/')}`);
    throw new TerminalError(`symlink ${quoted(path)} leads to no file of the catalog: ${text}`);
  }

  async #add(entry: TarEntry): Promise<void> {
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
        return await this.#addLeaf(path, 'symlink', async () => {
          this.#links.set(path, target);
        });
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
    if (kind !== undefined) await this.#remove(path);
    const above = dirname(path);
    if (above !== '.') await this.#addDirectory(above);
    await mkdir(join(this.#root, path));
    this.#note(path, 'directory');
  }

  async #addLeaf(path: string, kind: Kind, write: (to: string) => Promise<void>): Promise<void> {
    const known = this.#kinds.get(path);
    // A directory of an upper layer wins over a file, which hides what lower layers have below it; a
    // later entry of this layer replaces a file.
    if (known !== undefined && !this.#layer.has(path)) {
      this.#opaqueHere.push(path);
      return;
    }
    const above = dirname(path);
    if (above !== '.') await this.#addDirectory(above);
    if (known === 'directory') {
      throw new TerminalError(`the layer has both a file and a directory at ${quoted(path)}`);
    }
    if (known !== undefined) await this.#remove(path);
    await write(join(this.#root, path));
    this.#note(path, kind);
  }

  async #remove(path: string): Promise<void> {
    if (!this.#links.delete(path)) await rm(join(this.#root, path));
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

/** The way up to the image's root, and down from there: its `..` are those of real folders. */
function relativeTarget(path: string, target: readonly string[]): string {
  const up = path.split('/').slice(1);
  return [...up.map(() => '..'), ...target].join('/') || '.';
}

/**
 * The target of a link from the image's root. No `..` is left to follow a name: where that name is
 * a link too, the kernel would climb from another folder than this one.
 * @throws TerminalError for a target outside of the image
 */
function checkedTarget(path: string, { linkPath = '', path: shown }: TarEntry): readonly string[] {
  if (Buffer.byteLength(linkPath) > maxLinkBytes || linkPath.includes('\0')) {
    throw new TerminalError(
      `symlink ${quoted(shown)} has a target that no link can have: ${quoted(linkPath)}`,
    );
  }
  const parts = linkPath.startsWith('/') ? [] : path.split('/').slice(0, -1);
  for (const part of linkPath.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) {
      throw new TerminalError(
        `symlink ${quoted(shown)} points outside of the image: ${quoted(linkPath)}`,
      );
    }
  }
  return parts;
}

/** The error of an entry that no try can write; other errors as they are. */
function asFault(error: unknown, path: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const text = imageFaults.has(code) ? goFileError(error, quoted(path)) : undefined;
  if (text === undefined) return error;
  return new TerminalError(`the image cannot be unpacked: ${text}`, { cause: error });
}
