import { statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** Objects are named after the class, and some names may have at most 63 characters. */
const longest = 50;

const rules: readonly { readonly broken: RegExp; readonly message: string }[] = [
  {
    broken: /^(?![a-z]([-a-z0-9]*[a-z0-9])?$)/,
    message:
      'It must have lower-case letters, digits and "-" only, begin with a letter and not end in "-".',
  },
  {
    broken: new RegExp(`^.{${longest + 1}}`),
    message: `It must not be longer than ${longest} characters.`,
  },
  {
    broken: /^core-rukpak-io/,
    message: 'Names that begin with "core-rukpak-io" are of built-in classes.',
  },
  {
    broken: /^(y|n|yes|no|on|off|true|false|null)$/,
    message: 'YAML takes that word for something else than a name.',
  },
];

/**
 * Checks the name of a new class, which must be valid for RukPak and as a Service's name.
 * @throws InvalidArgumentError that names the problem.
 */
export function className(name: string): string {
  const rule = rules.find(({ broken }) => broken.test(name));
  if (rule === undefined) return name;
  throw new InvalidArgumentError(rule.message);
}

/** The source of the package rukpak-ts for a project. */
export interface Sdk {
  /** The version in package.json. */
  readonly dependency: string;
  /** A packed package, which is copied into the project's `vendor`. */
  readonly tarball?: string;
}

/**
 * A version or range in npm's notation, or a file that `npm pack` has written.
 * @throws InvalidArgumentError for anything else.
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

/** Folder of a project's own control plane. */
export function devClusterFolder(project: string): string {
  return join(project, '.rukpak', 'cluster');
}
