import { formats } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';
import { typesOf } from './subject.ts';

const numericFormats: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer', ['int32', 'int64']],
  ['number', ['float', 'double']],
]);

/** The schema's format where the API server checks it on the schema's type, else empty. */
export function supportedFormat(schema: JsonSchema): string {
  const { format = '' } = schema;
  const types = typesOf(schema);
  const [type = ''] = types.length === 1 ? types : [];
  const isSupported =
    type === '' || type === 'string'
      ? formats.has(normalized(format))
      : numericFormats.get(type)?.includes(format) === true;
  return isSupported ? format : '';
}

/** Whether a string has a format; true for a format that strings cannot have. */
export function hasFormat(text: string, format: string): boolean {
  return formats.get(normalized(format))?.(text) ?? true;
}

/** `date-time` and `datetime` are the same. */
function normalized(format: string): string {
  return format.replaceAll('-', '');
}
