import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { record } from '../../../api/record.ts';

/** The format of deploy/openapi/compact.ts. */
const knowledgeSchema = z.object({
  version: z.string(),
  kinds: record(z.string()),
  definitions: record(z.union([z.string(), record(z.string())])),
});

interface Knowledge extends z.infer<typeof knowledgeSchema> {
  /** Such as `1.36`. */
  readonly minor: string;
  /** Kinds by `<group>/<version>`. */
  readonly kindsOf: ReadonlyMap<string, readonly string[]>;
  readonly groups: ReadonlySet<string>;
}

let known: Knowledge | undefined;

/** Kubernetes' own kinds, of the version that is in the name of the file. */
export function knowledge(): Knowledge {
  known ??= readKnowledge();
  return known;
}

const file = 'openapi/kubernetes-1.36.json';

function readKnowledge(): Knowledge {
  // Sources run in place or from dist/.
  const [beside, above] = ['../../../deploy/', '../../../../deploy/'].map(
    (folder) => new URL(folder + file, import.meta.url),
  );
  const place = beside !== undefined && existsSync(beside) ? beside : above;
  const read = knowledgeSchema.parse(JSON.parse(readFileSync(place ?? '', 'utf8')));
  const keys = Object.keys(read.kinds);
  const kindsOf = new Map<string, string[]>();
  for (const key of keys) {
    const end = key.lastIndexOf('/');
    const [groupVersion, kind] = [key.slice(0, end), key.slice(end + 1)];
    kindsOf.set(groupVersion, [...(kindsOf.get(groupVersion) ?? []), kind]);
  }
  const groups = new Set(keys.map((key) => key.slice(0, key.indexOf('/'))));
  return { ...read, minor: read.version.split('.', 2).join('.'), kindsOf, groups };
}

/** The type behind a reference; some definitions only name a type. */
export function resolve(type: string): string | Readonly<Record<string, string>> {
  if (!type.startsWith('#')) return type;
  return knowledge().definitions[type.slice(1)] ?? 'any';
}

/** Of each definition: a schema in a CRD has hundreds of parts, each with forty possible fields. */
const required = new WeakMap<Readonly<Record<string, string>>, readonly string[]>();

/** Names of the fields that a definition requires. */
export function requiredOf(fields: Readonly<Record<string, string>>): readonly string[] {
  const known = required.get(fields);
  if (known !== undefined) return known;
  const names = Object.keys(fields).filter((name) => fields[name]?.endsWith('!'));
  required.set(fields, names);
  return names;
}
