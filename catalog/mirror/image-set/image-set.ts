import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import type { JsonValue } from '../../../api/json.ts';
import { errorMessage, quoted, TerminalError } from '../../../core/errors.ts';
import { parseYaml } from '../../../core/manifests/index.ts';
import { parseImageReference } from '../../../core/registry/index.ts';
import { lineOfField } from './field-lines.ts';
import {
  imageSetSchema,
  leftOutFields,
  type WrittenImageSet,
  type WrittenOperator,
} from './image-set-schema.ts';

/**
 * Versions of a channel, both ends included. Defaults to the head, or with `full` to all versions.
 */
export interface VersionRange {
  readonly minVersion?: string | undefined;
  readonly maxVersion?: string | undefined;
}

export interface ChosenChannel extends VersionRange {
  readonly name: string;
}

export interface ChosenPackage extends VersionRange {
  readonly name: string;
  readonly defaultChannel?: string | undefined;
  /** Defaults to the default channel, or with `full` to all channels. */
  readonly channels: readonly ChosenChannel[];
}

/** The chosen part of one catalog. */
export interface ChosenCatalog {
  /** An image reference, or a place such as `oci:///srv/catalog`. */
  readonly catalog: string;
  /** Choose all versions instead of heads, and all channels instead of the default one. */
  readonly full: boolean;
  /** Empty for all packages. */
  readonly packages: readonly ChosenPackage[];
  /** Repository below the target, without registry and tag. */
  readonly targetCatalog?: string | undefined;
  readonly targetTag?: string | undefined;
  /** Leave out the dependencies of bundles. */
  readonly skipDependencies?: boolean | undefined;
}

/** A parsed ImageSetConfiguration. */
export interface ImageSet {
  readonly catalogs: readonly ChosenCatalog[];
  readonly additionalImages: readonly string[];
  /** References not to mirror: an image, or a whole repository. */
  readonly blockedImages: readonly string[];
  /** The ignored fields of the file, in sentences. */
  readonly leftOut: readonly string[];
}

/** @throws TerminalError that names the file, and the line and field. */
export async function readImageSet(file: string): Promise<ImageSet> {
  let content: Uint8Array;
  try {
    content = await readFile(file);
  } catch (error) {
    throw new TerminalError(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
  return parseImageSet(content, file);
}

/** @throws TerminalError `<file>:<line>: <field>: <problem>` */
export function parseImageSet(content: Uint8Array | string, file: string): ImageSet {
  const source = new Source(file, content);
  const result = imageSetSchema.safeParse(source.value);
  const [issue] = result.success ? [] : result.error.issues;
  if (issue !== undefined) throw source.refused(issue);
  const written = result.data as WrittenImageSet;
  written.mirror.operators.forEach((operator, index) => {
    source.check(['mirror', 'operators', index], operatorProblem(operator));
  });
  source.checkImages(written);
  return imageSetOf(written, source.leftOut());
}

function imageSetOf({ mirror }: WrittenImageSet, leftOut: readonly string[]): ImageSet {
  return {
    catalogs: mirror.operators.map(chosenCatalog),
    additionalImages: mirror.additionalImages.map(({ name }) => name),
    blockedImages: mirror.blockedImages.map(({ name }) => name),
    leftOut,
  };
}

function chosenCatalog(operator: WrittenOperator): ChosenCatalog {
  const { catalog, targetCatalog, targetName, ...rest } = operator;
  return {
    catalog,
    full: rest.full,
    packages: rest.packages,
    targetCatalog: targetCatalog ?? renamed(catalog, targetName),
    targetTag: rest.targetTag,
    skipDependencies: rest.skipDependencies,
  };
}

/** v1alpha2's `targetName`: the catalog's own path with another last part. */
function renamed(catalog: string, name: string | undefined): string | undefined {
  if (name === undefined || isPlace(catalog)) return name;
  return [...parseImageReference(catalog).path.split('/').slice(0, -1), name].join('/');
}

/** Whether a catalog is a layout or directory of this machine. */
export function isPlace(catalog: string): boolean {
  return /^(?:(?:oci|oci-archive|file):|[./~])/.test(catalog);
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** A problem of a catalog or its packages that the schema cannot express. */
function operatorProblem(operator: WrittenOperator): Problem | undefined {
  if (operator.targetCatalog !== undefined && operator.targetName !== undefined) {
    return { path: ['targetName'], text: 'set targetCatalog or targetName, not both' };
  }
  if (!isPlace(operator.catalog)) {
    const text = referenceProblem(operator.catalog);
    if (text !== undefined) return { path: ['catalog'], text };
  } else if (operator.targetCatalog === undefined && operator.targetName === undefined) {
    return { path: ['catalog'], text: 'a catalog of this machine needs a targetCatalog' };
  }
  const seen = new Set<string>();
  for (const [index, { name, ...chosen }] of operator.packages.entries()) {
    const path = ['packages', index];
    if (seen.has(name))
      return { path: [...path, 'name'], text: `package ${quoted(name)} is twice` };
    seen.add(name);
    const problem = packageProblem(chosen);
    if (problem !== undefined) return { path: [...path, ...problem.path], text: problem.text };
  }
  return undefined;
}

function packageProblem(chosen: Omit<ChosenPackage, 'name'>): Problem | undefined {
  const { channels, defaultChannel } = chosen;
  const bound = (['minVersion', 'maxVersion'] as const).find((name) => chosen[name] !== undefined);
  if (bound !== undefined && channels.length > 0) {
    return { path: [bound], text: 'set it in each of the channels that the package names' };
  }
  const names = channels.map(({ name }) => name);
  if (defaultChannel !== undefined && names.length > 0 && !names.includes(defaultChannel)) {
    const text = `channel ${quoted(defaultChannel)} is not among the channels that the package names`;
    return { path: ['defaultChannel'], text };
  }
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice === -1) return undefined;
  return { path: ['channels', twice], text: `channel ${quoted(names[twice] ?? '')} is twice` };
}

function referenceProblem(reference: string): string | undefined {
  try {
    parseImageReference(reference);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** A parsed file, which adds file, line and field to its errors. */
class Source {
  readonly value: JsonValue;
  readonly #file: string;
  readonly #content: Uint8Array | string;

  constructor(file: string, content: Uint8Array | string) {
    this.#file = file;
    this.#content = content;
    try {
      this.value = parseYaml(content);
    } catch (error) {
      throw new TerminalError(`${file}: ${errorMessage(error)}`, { cause: error });
    }
  }

  refused(issue: z.core.$ZodIssue): TerminalError {
    if (issue.code === 'unrecognized_keys') {
      return this.#error([...issue.path, issue.keys[0] ?? ''], 'there is no such field');
    }
    const isMissing = valueAt(this.value, issue.path) === undefined && issue.path.length > 0;
    return this.#error(issue.path, isMissing ? 'it is missing' : issue.message);
  }

  check(path: readonly PropertyKey[], problem: Problem | undefined): void {
    if (problem !== undefined) throw this.#error([...path, ...problem.path], problem.text);
  }

  checkImages({ mirror }: WrittenImageSet): void {
    for (const list of ['additionalImages', 'blockedImages'] as const) {
      for (const [index, { name }] of mirror[list].entries()) {
        const text = referenceProblem(name);
        if (text !== undefined) throw this.#error(['mirror', list, index, 'name'], text);
      }
    }
  }

  leftOut(): readonly string[] {
    return Object.entries(leftOutFields).flatMap(([field, instead]) => {
      const path = field.split('.');
      if (isNothing(valueAt(this.value, path))) return [];
      return [`${this.#place(path)}: ${field} is left out: ${instead}`];
    });
  }

  #error(path: readonly PropertyKey[], problem: string): TerminalError {
    const field = fieldName(path);
    return new TerminalError(`${this.#place(path)}: ${field === '' ? '' : `${field}: `}${problem}`);
  }

  #place(path: readonly PropertyKey[]): string {
    return `${this.#file}:${lineOfField(this.#content, path)}`;
  }
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part)
        ? (inner as Readonly<Record<PropertyKey, unknown>>)[part]
        : undefined,
    value,
  );
}

/** Whether a value is empty, such as `helm: {}`. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.values(value).every(isNothing);
}
