import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import { isMap, itemsOf } from '../pod-template/template-parts.ts';

const columnFields = ['name', 'type', 'format', 'description', 'priority', 'jsonPath'] as const;

/**
 * A CRD whose printer columns have their fields in the case of the API: `JSONPath`, as v1beta1 had it,
 * is `jsonPath`. Go's decoder took either, and so catalogs have both; the API server takes one.
 */
export function withColumnFields(crd: KubernetesObject): KubernetesObject {
  const { spec } = crd as JsonObject;
  if (!isMap(spec) || !itemsOf(spec['versions']).some(hasOtherCase)) return crd;
  const versions = itemsOf(spec['versions']).map((version) => {
    if (!hasOtherCase(version)) return version;
    const additionalPrinterColumns = columnsOf(version).map(corrected);
    return { ...version, additionalPrinterColumns };
  });
  return { ...crd, spec: { ...spec, versions } };
}

function hasOtherCase(version: JsonValue): version is JsonObject {
  return columnsOf(version).some((column) => isMap(column) && otherCase(column).length > 0);
}

function columnsOf(version: JsonValue): readonly JsonValue[] {
  return isMap(version) ? itemsOf(version['additionalPrinterColumns']) : [];
}

function corrected(column: JsonValue): JsonValue {
  if (!isMap(column)) return column;
  const fieldOf = new Map(otherCase(column));
  const entries = Object.entries(column).map(([key, value]) => [fieldOf.get(key) ?? key, value]);
  // What is written as the API has it counts.
  return { ...Object.fromEntries(entries), ...onlyFields(column) };
}

function onlyFields(column: JsonObject): JsonObject {
  const names: readonly string[] = columnFields;
  return Object.fromEntries(Object.entries(column).filter(([key]) => names.includes(key)));
}

/** Keys that are fields but for their case, with these. */
function otherCase(column: JsonObject): readonly (readonly [written: string, field: string])[] {
  return Object.keys(column).flatMap((key) => {
    const field = columnFields.find((each) => each.toLowerCase() === key.toLowerCase());
    return field === undefined || field === key ? [] : [[key, field] as const];
  });
}
