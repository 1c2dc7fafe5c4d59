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
  readonly minProperties?: number;
  readonly default?: string | number;
  readonly required?: readonly string[];
  readonly oneOf?: readonly { readonly required: readonly string[] }[];
  readonly items?: StructuralSchema;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic';
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** A rule in CEL over `self`, which the API server evaluates at admission. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
}

/**
 * Keywords for `meta` of a zod schema that only the API server understands: zod neither evaluates
 * them nor changes the type by them.
 */
export type ServerKeywords = Pick<
  StructuralSchema,
  | 'default'
  | 'format'
  | 'pattern'
  | 'minProperties'
  | 'x-kubernetes-list-type'
  | 'x-kubernetes-list-map-keys'
  | 'x-kubernetes-map-type'
  | 'x-kubernetes-validations'
>;

/**
 * The structural schema of a zod schema: objects prune undeclared fields, loose objects preserve
 * them, integers are int64 unless their format says otherwise.
 * @throws Error for a zod schema without a structural equivalent.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return convert(z.toJSONSchema(schema, { io: 'input' }));
}

/** The schema with a property at `path` that requires exactly one of `keys`. */
export function exactlyOneOf(
  schema: StructuralSchema,
  path: readonly string[],
  keys: readonly string[],
): StructuralSchema {
  const [name, ...rest] = path;
  if (name === undefined) return { ...schema, oneOf: keys.map((key) => ({ required: [key] })) };
  const property = schema.properties?.[name];
  if (property === undefined) throw new Error(`the schema has no property "${name}"`);
  return {
    ...schema,
    properties: { ...schema.properties, [name]: exactlyOneOf(property, rest, keys) },
  };
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
  ['minProperties', copy('minProperties')],
  ['default', copy('default')],
  ['x-kubernetes-list-type', copy('x-kubernetes-list-type')],
  ['x-kubernetes-list-map-keys', copy('x-kubernetes-list-map-keys')],
  ['x-kubernetes-map-type', copy('x-kubernetes-map-type')],
  ['x-kubernetes-validations', copy('x-kubernetes-validations')],
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
