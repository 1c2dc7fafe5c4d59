import { fitsSixtyFourBits, resolveFloat, resolveInteger, resolvePlain } from './plain-scalar.ts';
import { yamlError } from './yaml-error.ts';

type Resolved = null | boolean | number | bigint | string;

/** A scalar with an explicit tag, whatever its style: Go reads the text, then holds it to the tag. */
export function resolveTagged(tag: string, text: string): Resolved {
  if (tag === `${core}binary`) return decodeBinary(text);
  const accepts = acceptors.get(tag);
  if (accepts === undefined) return text;
  const value = resolvePlain(text);
  if (accepts(value, text)) return value;
  throw yamlError(
    `cannot decode !!${kindOf(value, text)} \`${text}\` as a !!${tag.slice(core.length)}`,
  );
}

const core = 'tag:yaml.org,2002:';

// Tags that are not here (`!!str`, `!`, an application's own) leave the text as it is.
const acceptors: ReadonlyMap<string, (value: Resolved, text: string) => boolean> = new Map<
  string,
  (value: Resolved, text: string) => boolean
>([
  [`${core}null`, (value) => value === null],
  [`${core}bool`, (value) => typeof value === 'boolean'],
  [`${core}int`, (_, text) => isInteger(text)],
  [`${core}float`, (_, text) => (resolveInteger(text) ?? resolveFloat(text)) !== undefined],
  [`${core}timestamp`, (_, text) => timestamp.test(text)],
]);

const timestamp =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt ]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})?)?$/;

function kindOf(value: Resolved, text: string): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  return isInteger(text) ? 'int' : 'float';
}

// What is beyond 64 bits is a float for Go.
function isInteger(text: string): boolean {
  const integer = resolveInteger(text);
  return integer !== undefined && fitsSixtyFourBits(integer);
}

function decodeBinary(text: string): string {
  const encoded = text.replace(/[\r\n]/g, '');
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) {
    throw yamlError('!!binary value contains invalid base64 data');
  }
  return Buffer.from(encoded, 'base64').toString('utf8');
}
