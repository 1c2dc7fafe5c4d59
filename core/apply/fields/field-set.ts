import { parseJson } from '../../../api/json.ts';
import { fieldPath, itemPath } from './field-path.ts';
import { isMap, mapOf } from './json-fields.ts';

/**
 * Paths of the fields that one set of managed fields has and another one has not, the smallest that
 * a set names. An item that is missing as a whole is one path.
 */
export function fieldsBeyond(fields: unknown, known: unknown, path = ''): readonly string[] {
  const elements = Object.keys(mapOf(fields)).filter((element) => element !== '.');
  return elements.flatMap((element) => {
    const [more, there] = [mapOf(fields)[element], mapOf(known)[element]];
    const at = elementPath(path, element);
    const isWhole = Object.keys(mapOf(more)).length === 0 || element.startsWith('k:');
    if (there === undefined && isWhole) return [at];
    return fieldsBeyond(more, there, at);
  });
}

function elementPath(parent: string, element: string): string {
  const operand = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return fieldPath(parent, operand);
    case 'k:': {
      const keys = parseJson(operand);
      return itemPath(parent, isMap(keys) ? keys : {});
    }
    case 'i:':
      return itemPath(parent, Number(operand));
    default:
      return `${parent}[${operand}]`;
  }
}
