import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shippedFile } from '../shipped-file.ts';
import type { BinaryName, ModuleName, Version } from './catalogue.ts';
import { BINARIES, MODULE_NAMES } from './catalogue.ts';

const MODULES = shippedFile('modules');

export function moduleDir(name: ModuleName): string {
  return join(MODULES, name);
}

/** The version in the first match of `<prefix>1.2.3`; undefined when there is none. */
export function versionAfter(prefix: string, text: string): Version | undefined {
  const start = text.indexOf(prefix);
  if (start < 0) return undefined;
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(text.slice(start + prefix.length));
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** The version in go.mod for this binary. */
export async function pinnedVersion(name: BinaryName): Promise<Version> {
  const { module, versionOf } = BINARIES[name];
  const file = join(moduleDir(module), 'go.mod');
  const version = versionAfter(`\t${versionOf} v`, await readFile(file, 'utf8'));
  if (version === undefined) throw new Error(`${file} requires no version of ${versionOf}`);
  return version;
}

/** Changes with every pinned version, so that binaries of different pins never mix. */
export async function modulesHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of MODULE_NAMES) {
    for (const file of ['go.mod', 'go.sum'])
      hash.update(await readFile(join(moduleDir(name), file)));
  }
  return hash.digest('hex').slice(0, 16);
}
