import { statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** Objects are named after the class, and the names of some may not be longer than 63. */
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
 * The name of a new class: one that RukPak accepts, and a Service too.
 * @throws InvalidArgumentError that says what is wrong with it.
 */
export function className(name: string): string {
  const rule = rules.find(({ broken }) => broken.test(name));
  if (rule === undefined) return name;
  throw new InvalidArgumentError(rule.message);
}

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

/** Where a project's own control plane keeps everything. */
export function devClusterFolder(project: string): string {
  return join(project, '.rukpak', 'cluster');
}
