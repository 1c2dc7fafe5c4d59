import { gvkOf } from '../../../api/gvk.ts';
import type { JsonValue } from '../../../api/json.ts';
import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import { isDefinition } from '../../../core/apply/content-rules.ts';
import { errorMessage } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import { bounded, type JsonSchema, validateObject } from '../../../webhooks/object-schema.ts';
import { error, type Finding } from './finding.ts';
import type { LocatedObject } from './manifest-objects.ts';

const listedTexts = 5;

/** Custom resources that the API server refuses by the schema of the bundle's own CRD. Pure. */
export function unfitResources(objects: readonly LocatedObject[]): readonly Finding[] {
  const schemas = new Map(objects.flatMap(schemasOf));
  return objects.flatMap((located): readonly Finding[] => {
    const { object, file, document } = located;
    const own = schemas.get(`${object.apiVersion} ${object.kind}`);
    const message = own === undefined ? undefined : unfit(object as JsonValue, own);
    if (message === undefined) return [];
    const what = `${object.kind} "${object.metadata.name ?? ''}" does not fit the bundle's own CRD`;
    const place = { file, document, path: [] };
    return [error({ place, message: `${what}: ${message}`, fix: 'correct it, or remove it' })];
  });
}

function unfit(object: JsonValue, schema: JsonSchema): string | undefined {
  try {
    const { texts } = bounded(() => validateObject(object, schema));
    // Each begins with the root, `[]`.
    const shown = texts.map((text) => text.replace(/^\[\]\.?/, ''));
    return shown.length === 0 ? undefined : shortList(shown, listedTexts);
  } catch (problem) {
    return `it cannot be checked: ${errorMessage(problem)}`;
  }
}

function schemasOf({ object }: LocatedObject): readonly (readonly [string, JsonSchema])[] {
  if (!isDefinition(gvkOf(object))) return [];
  const group = stringAt(object['spec'], 'group') ?? '';
  const kind = stringAt(fieldAt(object['spec'], 'names'), 'kind') ?? '';
  return listOf(fieldAt(object['spec'], 'versions')).flatMap((version) => {
    const schema = fieldAt(version, 'schema', 'openAPIV3Schema');
    if (typeof schema !== 'object' || schema === null) return [];
    return [[`${group}/${stringAt(version, 'name') ?? ''} ${kind}`, schema] as const];
  });
}
