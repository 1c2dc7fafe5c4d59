import { goQuote } from '../../api/go-quote.ts';
import { isMap } from '../../api/json-fields.ts';

/** A type that Go's encoding/json decodes into. */
export type GoType = GoStruct | GoList | 'string';

export interface GoStruct {
  /** Empty for a type without a name. */
  readonly name: string;
  /** As Go writes the type in an error. */
  readonly type: string;
  /** By their JSON names. A function, since types may contain themselves. */
  readonly fields: () => Readonly<Record<string, GoType>>;
  /** Refuses other fields, which are ignored otherwise. */
  readonly strict?: boolean;
}

export interface GoList {
  readonly type: string;
  readonly of: GoStruct;
}

/** Fields by their JSON names, without those that are null or missing. */
export type Decoded = Readonly<Record<string, unknown>>;

/** A value does not fit its type; the message is that of encoding/json. */
export class GoJsonError extends Error {
  override readonly name = 'GoJsonError';
}

/**
 * Decodes parsed JSON as Go's encoding/json does: names of fields in any case, null as absence, the
 * first problem in the value's order.
 * @throws GoJsonError
 */
export function decodeStruct(value: unknown, of: GoStruct): Decoded {
  const decoder = new Decoder();
  const decoded = decoder.struct(value, of, { struct: undefined, path: '' });
  if (decoder.problem !== undefined) throw new GoJsonError(decoder.problem);
  return decoded;
}

/** The text of a decoded field; empty when it is missing. */
export function textOf(decoded: Decoded, field: string): string {
  const value = decoded[field];
  return typeof value === 'string' ? value : '';
}

/** The value of a field of parsed JSON, by its name in any case; undefined for null too. */
export function fieldIn(value: unknown, field: string): unknown {
  if (!isMap(value)) return undefined;
  const key = Object.hasOwn(value, field)
    ? field
    : Object.keys(value).find((each) => fold(each) === fold(field));
  return key === undefined ? undefined : (value[key] ?? undefined);
}

interface Place {
  readonly struct: GoStruct | undefined;
  readonly path: string;
  /** The fields that the value has already. */
  readonly before?: Decoded;
}

class Decoder {
  problem: string | undefined;

  struct(value: unknown, of: GoStruct, place: Place): Decoded {
    const { before = {} } = place;
    if (value === null) return before;
    if (!isMap(value)) {
      this.#mismatch(value, of.type, place);
      return before;
    }
    const decoded: Record<string, unknown> = { ...before };
    const fields = of.fields();
    for (const [key, item] of Object.entries(value)) {
      const name = fieldOf(fields, key);
      if (name === undefined) {
        if (of.strict === true) this.problem ??= `json: unknown field ${goQuote(key)}`;
        continue;
      }
      const path = place.path === '' ? name : `${place.path}.${name}`;
      this.#field(decoded, {
        name,
        type: fields[name] ?? 'string',
        item,
        at: { struct: of, path },
      });
    }
    return decoded;
  }

  #field(
    into: Record<string, unknown>,
    { name, type, item, at }: { name: string; type: GoType; item: unknown; at: Place },
  ): void {
    if (type === 'string') {
      if (typeof item === 'string') into[name] = item;
      else if (item !== null) this.#mismatch(item, type, at);
    } else if (item === null) {
      delete into[name];
    } else if ('of' in type) {
      into[name] = this.#list(item, type, at);
    } else {
      // A name that comes twice, in two cases, has the fields of both.
      const earlier = into[name];
      into[name] = this.struct(item, type, isMap(earlier) ? { ...at, before: earlier } : at);
    }
  }

  #list(item: unknown, { type, of }: GoList, at: Place): readonly Decoded[] {
    if (Array.isArray(item)) return item.map((each: unknown) => this.struct(each, of, at));
    this.#mismatch(item, type, at);
    return [];
  }

  #mismatch(value: unknown, type: string, { struct, path }: Place): void {
    const into = struct === undefined ? 'value' : `struct field ${struct.name}.${path}`;
    this.problem ??= `json: cannot unmarshal ${kindOf(value)} into Go ${into} of type ${type}`;
  }
}

function fieldOf(fields: Readonly<Record<string, GoType>>, key: string): string | undefined {
  if (Object.hasOwn(fields, key)) return key;
  const folded = fold(key);
  return Object.keys(fields).find((name) => fold(name) === folded);
}

/** Go's simple case folding of names in ASCII: the long s and the Kelvin sign are letters of them. */
function fold(name: string): string {
  return name.replaceAll('\u{17f}', 's').replaceAll('\u{212a}', 'k').toLowerCase();
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}
