import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { errorMessage, quoted } from '../../errors.ts';
import { normalPattern } from '../reference.ts';
import type { RegistryMirror, RegistryRule } from './pull-places.ts';

/**
 * Reads a containers-registries.conf and then, sorted by name, the `*.conf` files of the folder
 * `<file>.d`. A registry of a later file replaces an earlier one with the same prefix completely.
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

interface RegistriesFile {
  readonly registries: readonly RegistryRule[];
  /** Settings that have no effect here, in words for a log. */
  readonly ignored: readonly string[];
}

const mirrorSchema = z.object({
  location: z.string(),
  insecure: z.boolean().default(false),
  'pull-from-mirror': z.enum(['all', 'digest-only', 'tag-only']).optional(),
});
const registrySchema = z.object({
  prefix: z.string().default(''),
  location: z.string().default(''),
  insecure: z.boolean().default(false),
  blocked: z.boolean().default(false),
  'mirror-by-digest-only': z.boolean().default(false),
  'pull-from-mirror': z.undefined({ error: 'it belongs in a [[registry.mirror]]' }).optional(),
  mirror: z.array(mirrorSchema).default([]),
});
const fileSchema = z.looseObject({
  registries: z
    .undefined({ error: 'version 1 of the format is not supported; use [[registry]]' })
    .optional(),
  registry: z.array(registrySchema).default([]),
});

type Registry = z.infer<typeof registrySchema>;

/** Ignored settings with the reason: for short names, and for credential helper programs. */
const withoutEffect: Readonly<Record<string, string>> = {
  'unqualified-search-registries': 'names without a registry are those of docker.io',
  'short-name-mode': 'names without a registry are those of docker.io',
  aliases: 'names without a registry are those of docker.io',
  'credential-helpers': 'credentials come from pull secrets alone',
};

/**
 * Reads a containers-registries.conf in version 2 of its format.
 * @throws Error that names the line, or the field such as `registry[0].mirror[1].location`
 */
export function parseRegistriesConf(text: string): RegistriesFile {
  const result = fileSchema.safeParse(parseToml(text));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw fieldError(issue?.path ?? [], issue?.message ?? 'it cannot be read');
  }
  return {
    registries: result.data.registry.map((registry, index) =>
      ruleOf(registry, ['registry', index]),
    ),
    ignored: Object.entries(withoutEffect)
      .filter(([name]) => name in result.data)
      .map(([name, reason]) => `${name} has no effect: ${reason}`),
  };
}

function parseToml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const [problem = ''] = errorMessage(error).split('\n');
    const where = error instanceof TomlError ? `line ${error.line}, column ${error.column}: ` : '';
    throw new Error(`${where}${problem}`, { cause: error });
  }
}

function ruleOf(registry: Registry, path: readonly PropertyKey[]): RegistryRule {
  const location = trimmed(registry.location);
  const prefix = registry.prefix === '' ? location : trimmed(registry.prefix);
  if (prefix === '') throw fieldError(path, 'it needs a location or a prefix');
  if (location === '' && !prefix.startsWith('*.') && registry.prefix !== '') {
    throw fieldError([...path, 'location'], 'a prefix without a wildcard needs one');
  }
  if (location !== '') checkLocation(location, [...path, 'location']);
  if (prefix !== location) checkPrefix(prefix, [...path, 'prefix']);
  return {
    prefix: normalPattern(prefix),
    location: location === '' || location === prefix ? undefined : location,
    insecure: registry.insecure,
    blocked: registry.blocked,
    mirrorByDigestOnly: registry['mirror-by-digest-only'],
    mirrors: registry.mirror.map((mirror, index) =>
      mirrorOf(mirror, registry, [...path, 'mirror', index]),
    ),
  };
}

function mirrorOf(
  mirror: z.infer<typeof mirrorSchema>,
  registry: Registry,
  path: readonly PropertyKey[],
): RegistryMirror {
  const location = trimmed(mirror.location);
  checkLocation(location, [...path, 'location']);
  const pullFrom = mirror['pull-from-mirror'];
  if (pullFrom !== undefined && registry['mirror-by-digest-only']) {
    const problem = 'it cannot be set together with mirror-by-digest-only of the registry';
    throw fieldError([...path, 'pull-from-mirror'], problem);
  }
  return { location, insecure: mirror.insecure, pullFrom: pullFrom ?? 'all' };
}

function trimmed(location: string): string {
  return location.replace(/\/+$/, '');
}

/** A first part without dot or colon would be a path on docker.io. */
function checkLocation(location: string, path: readonly PropertyKey[]): void {
  const [host = ''] = location.split('/', 1);
  if (/^https?:\/\//i.test(location)) throw fieldError(path, 'it must not begin with a scheme');
  if (/\s/.test(location) || location.startsWith('*')) throw fieldError(path, 'it is no location');
  if (!/[.:]/.test(host) && host !== 'localhost') {
    throw fieldError(path, 'it must begin with a host that has a dot or a port, as in host:443');
  }
  if (URL.parse(`https://${host}`) === null) {
    throw fieldError(path, `${quoted(host)} is no valid address of a host`);
  }
}

function checkPrefix(prefix: string, path: readonly PropertyKey[]): void {
  if (prefix.startsWith('*.') && prefix.length > 2 && !prefix.slice(2).includes('*')) return;
  if (prefix.includes('*')) {
    throw fieldError(path, 'a wildcard is only possible at its beginning, as in *.example.com');
  }
  checkLocation(prefix, path);
}

function fieldError(path: readonly PropertyKey[], problem: string): Error {
  const field = path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
  return new Error(`${field}: ${problem}`);
}
