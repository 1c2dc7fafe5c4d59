import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../errors.ts';
import { parseRegistriesConf, type RegistriesFile } from './parse-registries-conf.ts';
import type { RegistryRule } from './registries-config.ts';

/**
 * Reads a containers-registries.conf and, in the order of their names, the `*.conf` files of the
 * folder of the same name with `.d` after it. A later file's registry takes the place of an
 * earlier one's with the same prefix, whole.
 * @throws Error that names the file, and the line or field
 */
export function readRegistriesConf(file: string): RegistriesFile {
  const rules = new Map<string, RegistryRule[]>();
  const ignored: string[] = [];
  for (const path of [file, ...dropIns(`${file}.d`)]) {
    const content = readOne(path);
    for (const [prefix, group] of byPrefix(content.registries)) rules.set(prefix, group);
    ignored.push(...content.ignored.map((text) => `${path}: ${text}`));
  }
  return { registries: [...rules.values()].flat(), ignored };
}

function byPrefix(rules: readonly RegistryRule[]): Map<string, RegistryRule[]> {
  return Map.groupBy(rules, ({ prefix }) => prefix);
}

function readOne(file: string): RegistriesFile {
  try {
    return parseRegistriesConf(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`cannot read the registries configuration ${file}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function dropIns(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.conf') && !name.startsWith('.'))
      .sort()
      .map((name) => join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new Error(`cannot read ${directory}: ${errorMessage(error)}`, { cause: error });
  }
}
