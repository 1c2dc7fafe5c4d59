import { gvkOf } from '../../../api/gvk.ts';
import { isMap } from '../../../api/json-fields.ts';
import { meantField, typeOf } from '../../../api/spec-config.ts';
import { contentProblem, isDefinition } from '../../../core/apply/content-rules.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { LocatedObject } from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';
import type { FieldPath } from '../source-lines.ts';
import { knowledge, requiredOf, resolve } from './kubernetes-schema.ts';

/**
 * Errors that the API server, or core before it, reports for objects of Kubernetes' own kinds:
 * unknown kinds, unknown fields, missing required fields, and values of the wrong type.
 */
export function builtInKinds(objects: readonly LocatedObject[]): readonly Finding[] {
  return objects.filter(isReadable).flatMap((located) => {
    const { group, version, kind } = gvkOf(located.object);
    const { kinds, kindsOf, groups } = knowledge();
    if (!groups.has(group)) return [];
    const definition = kinds[`${group}/${version}/${kind}`];
    if (definition !== undefined) return fieldFindings(located, definition);
    const others = kindsOf.get(`${group}/${version}`);
    return [others === undefined ? unservedVersion(located) : unknownKind(located, others)];
  });
}

/** Other rules report the rest. */
function isReadable({ object }: LocatedObject): boolean {
  const isFormer = isDefinition(gvkOf(object)) && gvkOf(object).version === 'v1beta1';
  return (
    object.apiVersion !== '' && !isFormer && contentProblem(object, anyDeployment) === undefined
  );
}

const anyDeployment: KubernetesObject = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  metadata: { name: '' },
};

function unknownKind(located: LocatedObject, kinds: readonly string[]): Finding {
  const { apiVersion, kind } = located.object;
  const meant = meantField(kind, kinds);
  const elsewhere = [...knowledge().kindsOf].find(([, others]) => others.includes(kind))?.[0];
  return error({
    place: placeOf(located, ['kind']),
    message: `${apiVersion} has no kind "${kind}" in Kubernetes ${knowledge().minor}`,
    fix: wayOut({ meant, elsewhere }),
  });
}

interface Meant {
  /** A kind of this apiVersion with a similar name. */
  readonly meant: string | undefined;
  /** An apiVersion that has the kind; begins with a slash in the core group. */
  readonly elsewhere: string | undefined;
}

function wayOut({ meant, elsewhere }: Meant): string {
  if (elsewhere !== undefined) return `write "apiVersion: ${elsewhere.replace(/^\//, '')}"`;
  return meant === undefined ? 'correct kind or apiVersion' : `write "${meant}"`;
}

function unservedVersion(located: LocatedObject): Finding {
  const { apiVersion, kind } = located.object;
  return warning({
    place: placeOf(located, ['apiVersion']),
    message: `Kubernetes ${knowledge().minor} does not serve ${apiVersion} (${kind}) unless it is asked to`,
    fix: 'write an apiVersion that the clusters serve which it is for',
  });
}

function fieldFindings(located: LocatedObject, definition: string): readonly Finding[] {
  const { status: _, ...object } = located.object;
  const walk = new Walk(located);
  walk.check(object, `#${definition}`, []);
  return walk.findings;
}

/** Checks one object, field by field. */
class Walk {
  readonly findings: Finding[] = [];
  readonly #located: LocatedObject;

  constructor(located: LocatedObject) {
    this.#located = located;
  }

  check(value: unknown, type: string, path: FieldPath): void {
    const resolved = resolve(type);
    // A null counts as absent.
    if (value === null || value === undefined || resolved === 'any') return;
    if (typeof resolved !== 'string') this.#checkFields(value, resolved, path);
    else if (resolved.startsWith('[]')) this.#checkItems(value, resolved.slice(2), path);
    else if (resolved.startsWith('{}')) this.#checkValues(value, resolved.slice(2), path);
    else if (!isOfType[resolved]?.(value)) this.#refuse(value, resolved, path);
  }

  #checkFields(value: unknown, fields: Readonly<Record<string, string>>, path: FieldPath): void {
    if (!isMap(value)) {
      this.#refuse(value, 'object', path);
      return;
    }
    for (const [name, child] of Object.entries(value)) {
      const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (type === undefined) this.#unknown(name, Object.keys(fields), path);
      else this.check(child, type.replace('!', ''), [...path, name]);
    }
    for (const name of requiredOf(fields)) {
      if ((value[name] ?? null) === null) this.#lacks(name, path);
    }
  }

  #checkItems(value: unknown, type: string, path: FieldPath): void {
    if (!Array.isArray(value)) {
      this.#refuse(value, 'list', path);
      return;
    }
    for (const [index, item] of value.entries()) this.check(item, type, [...path, index]);
  }

  #checkValues(value: unknown, type: string, path: FieldPath): void {
    if (!isMap(value)) {
      this.#refuse(value, 'object', path);
      return;
    }
    for (const [key, item] of Object.entries(value)) this.check(item, type, [...path, key]);
  }

  #unknown(name: string, fields: readonly string[], path: FieldPath): void {
    if (isPathOfColumn(name, path)) return;
    const meant = meantField(name, fields);
    this.findings.push(
      warning({
        place: placeOf(this.#located, [...path, name]),
        message: `${pathText([...path, name])} of ${this.#subject()} is no field of Kubernetes ${knowledge().minor}: core applies the object without it`,
        fix: meant === undefined ? 'remove it, or correct its name or place' : `write "${meant}"`,
      }),
    );
  }

  #lacks(name: string, path: FieldPath): void {
    if (isPathOfColumn(name, path)) return;
    this.findings.push(
      error({
        place: placeOf(this.#located, path),
        message: `${pathText([...path, name])} of ${this.#subject()} is missing: Kubernetes ${knowledge().minor} requires it`,
        fix: 'add it',
      }),
    );
  }

  #refuse(value: unknown, type: string, path: FieldPath): void {
    const found = value === '' ? 'an empty string' : typeOf(value);
    this.findings.push(
      error({
        place: placeOf(this.#located, path),
        message: `${pathText(path)} of ${this.#subject()} is ${found}, and must be ${names[type] ?? type}`,
        fix: type === 'string' ? 'write it in quotes' : 'correct it',
      }),
    );
  }

  #subject(): string {
    const { kind, metadata } = this.#located.object;
    return `${kind} "${metadata.name ?? metadata.generateName ?? ''}"`;
  }
}

/** The registry class corrects `JSONPath`; for others the rule `columnFields` rejects it. */
function isPathOfColumn(name: string, path: FieldPath): boolean {
  return name.toLowerCase() === 'jsonpath' && path.includes('additionalPrinterColumns');
}

const isOfType: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: isNumber,
  number: isNumber,
};

const names: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'a boolean',
  integer: 'a number',
  number: 'a number',
  list: 'a list',
  object: 'an object',
};

/** Numbers that JavaScript cannot hold exactly are objects of other classes. */
function isNumber(value: unknown): boolean {
  return (
    typeof value !== 'string' &&
    typeof value !== 'boolean' &&
    !isMap(value) &&
    !Array.isArray(value)
  );
}

function pathText(path: FieldPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);
}

function placeOf({ file: name, document }: LocatedObject, path: FieldPath) {
  return { file: name, document, path };
}
