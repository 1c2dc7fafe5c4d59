import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** Where a project gets rukpak-ts from. */
export interface Sdk {
  /** What package.json says. */
  readonly dependency: string;
  /** The packed package that goes along in the project's `vendor`. */
  readonly tarball?: string;
}

/**
 * A version or range as npm writes them, or a file that `npm pack` has written.
 * @throws InvalidArgumentError where it is neither.
 */
export function parseSdk(text: string): Sdk {
  if (/\.t(ar\.)?gz$/.test(text)) return packed(resolve(text));
  if (!isFile(text) && /^[\w.+~^<>=|* -]+$/.test(text)) return { dependency: text };
  throw new InvalidArgumentError('Give a version such as 1.2.3, or a file that npm pack has made.');
}

function packed(tarball: string): Sdk {
  if (!isFile(tarball)) {
    throw new InvalidArgumentError(`There is no file ${tarball}; npm pack makes one.`);
  }
  return { dependency: `file:vendor/${basename(tarball)}`, tarball };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
