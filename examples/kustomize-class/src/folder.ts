import { posix } from 'node:path';
import { type BundleFiles, parseYaml, TerminalError } from 'rukpak-ts/sdk';
import { quoted } from './quoted.ts';
import { Value } from './value.ts';

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/** @throws TerminalError where no folder of the content has one. */
export function refuseWithoutKustomization({ files }: BundleFiles): void {
  if ([...files.keys()].some((path) => fileNames.includes(posix.basename(path)))) return;
  throw new TerminalError('content has no kustomization.yaml in any folder');
}

/** A folder of the content, from which nothing outside of the content can be reached. */
export class Folder {
  readonly path: string;
  readonly #content: BundleFiles;

  constructor(content: BundleFiles, path: string) {
    this.#content = content;
    this.path = path;
  }

  kustomization(): Value {
    const paths = fileNames.map((name) => posix.join(this.path, name));
    const [path, second] = paths.filter((each) => this.#content.files.has(each));
    if (path === undefined)
      throw new TerminalError(`folder ${quoted(this.path)} has no kustomization.yaml`);
    if (second !== undefined)
      throw new TerminalError(`both ${path} and ${second} are there: one is enough`);
    return new Value(parseYaml(this.#content.files.get(path) ?? ''), path);
  }

  /** The folder that an entry names; undefined where it names a file. */
  folder(entry: Value): Folder | undefined {
    const path = this.#inside(entry);
    if (this.#content.files.has(path)) return undefined;
    if (path === '.' || this.#content.directories.has(path)) return new Folder(this.#content, path);
    throw entry.refused(`names ${quoted(entry.text())}, which is not in the content`);
  }

  /** A file of this folder or below; kustomize too takes no files from folders beside it. */
  file(entry: Value, name = entry.text()): { readonly path: string; readonly content: Uint8Array } {
    const path = this.#inside(entry, name);
    if (posix.relative(this.path, path).startsWith('..'))
      throw entry.refused(
        `names the file ${quoted(name)}, which is outside of ${quoted(this.path)}`,
      );
    const content = this.#content.files.get(path);
    if (content === undefined)
      throw entry.refused(`names ${quoted(name)}, which is not a file of the content`);
    return { path, content };
  }

  #inside(entry: Value, name = entry.text()): string {
    if (/^[a-z+]+:|^git@|^github\.com\/|\?ref=|\/\//i.test(name))
      throw entry.refused(`names ${quoted(name)}, which is remote: put it into the content`);
    const path = posix.join(this.path, name).replace(/(?<=.)\/$/, '');
    if (posix.isAbsolute(name) || path.split('/')[0] === '..')
      throw entry.refused(`names ${quoted(name)}, which is outside of the content`);
    return path;
  }
}
