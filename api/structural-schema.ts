import { z } from 'zod';

/** A structural OpenAPI v3 schema, with the keywords that our kinds use. */
export interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly oneOf?: readonly { readonly required: readonly string[] }[];
  readonly items?: StructuralSchema;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
}

/**
 * The structural schema of a zod schema: objects prune undeclared fields, loose objects preserve
 * them, integers are int64.
 * @throws Error for a zod schema without a structural equivalent.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return convert(z.toJSONSchema(schema, { io: 'input' }));
}

type JSONSchema = z.core.JSONSchema.BaseSchema;
type Converter = (value: unknown) => Partial<StructuralSchema>;

/** Converters by keyword, in the order of the output. */
const converters: ReadonlyMap<string, Converter> = new Map<string, Converter>([
  ['description', copy('description')],
  ['type', (value) => ({ type: value as string, ...(value === 'integer' && { format: 'int64' }) })],
  ['format', copy('format')],
  ['enum', copy('enum')],
  ['pattern', copy('pattern')],
  ['minLength', copy('minLength')],
  ['maxLength', copy('maxLength')],
  // zod limits every integer to a double's exact range; these two limits are not the field's own.
  ['minimum', (value) => (value === Number.MIN_SAFE_INTEGER ? {} : { minimum: value as number })],
  ['maximum', (value) => (value === Number.MAX_SAFE_INTEGER ? {} : { maximum: value as number })],
  ['minItems', copy('minItems')],
  ['maxItems', copy('maxItems')],
  ['items', (value) => ({ items: convert(value as JSONSchema) })],
  ['required', copy('required')],
  ['properties', convertProperties],
  ['additionalProperties', convertAdditionalProperties],
  // The dialect and the type of a map's keys have no counterpart in a CRD.
  ['$schema', () => ({})],
  ['propertyNames', () => ({})],
]);

function convert(schema: JSONSchema): StructuralSchema {
  for (const keyword of Object.keys(schema)) {
    if (!converters.has(keyword)) {
      throw new Error(`the JSON schema keyword "${keyword}" cannot be part of a structural schema`);
    }
  }
  let converted: StructuralSchema = {};
  for (const [keyword, converter] of converters) {
    if (keyword in schema) converted = { ...converted, ...converter(schema[keyword]) };
  }
  return converted;
}

function copy(keyword: keyof StructuralSchema): Converter {
  return (value) => ({ [keyword]: value });
}

function convertProperties(value: unknown): Partial<StructuralSchema> {
  const properties = Object.entries(value as Record<string, JSONSchema>);
  if (properties.length === 0) return {};
  return { properties: Object.fromEntries(properties.map(([name, of]) => [name, convert(of)])) };
}

function convertAdditionalProperties(value: unknown): Partial<StructuralSchema> {
  const schema = value as JSONSchema;
  return Object.keys(schema).length === 0
    ? { 'x-kubernetes-preserve-unknown-fields': true }
    : { additionalProperties: convert(schema) };
}
