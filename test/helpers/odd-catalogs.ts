import { stringifyJson } from '../../api/json.ts';

/** A file of a catalog as somebody could have written it by hand. */
export interface OddCatalog {
  readonly seed: number;
  readonly content: string;
}

/** Catalogs of odd keys, numbers, texts and documents; the same for the same seed. */
export function oddCatalogs(count: number, seed = 1): readonly OddCatalog[] {
  return Array.from({ length: count }, (_, index) => oddCatalog(seed + index));
}

type Random = (below: number) => number;

// mulberry32
function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const texts = [
  '',
  'on',
  'y',
  'null',
  '~',
  '1.0',
  '0x1f',
  '012',
  '1e3',
  '12:30',
  '2020-01-01',
  '<<',
  '=',
  '-',
  '@at',
  'a: b',
  ' lead',
  'trail ',
  '#no',
  'a #b',
  "it's",
  '"q"',
  'tab\there',
  'a\nb',
  'a\nb\n\n',
  '\nfirst',
  'end \nline',
  'é ü ß',
  '漢字',
  '😀 smile',
  'a\\b',
  '<html>&',
  '\u2028',
  '%x',
  '- item',
  '{a}',
  '[b]',
  '? k',
  ': v',
  '!tag',
  '&anchor',
  '*alias',
  '|',
  '>',
  'word '.repeat(30),
  'x'.repeat(200),
  `long ${'folded words of a text '.repeat(8)}: end`,
  `"${'quoted text '.repeat(12)}`,
  '1_000',
  '.5',
];
const keys = [
  'a',
  'a2',
  'a10',
  'B',
  'b',
  '_x',
  '2',
  '10',
  'on',
  'ключ',
  'with space',
  'a.b/c',
  '__proto__',
];
const numbers = [
  '0',
  '-0',
  '1',
  '1.0',
  '1.5',
  '1e21',
  '1e-7',
  '12345678901234567890',
  '123456789.5',
  '1e6',
];

function oddCatalog(seed: number): OddCatalog {
  const random = randomOf(seed);
  const documents = Array.from({ length: 1 + random(5) }, () => document(random));
  const isJson = random(2) === 0;
  const separator = isJson ? '\n' : '\n---\n';
  return { seed, content: `${documents.join(separator)}\n` };
}

/** JSON is YAML, too; unless it is one of the few that differ, which are wanted here. */
function document(random: Random): string {
  const schemas = [
    'olm.package',
    'olm.channel',
    'olm.bundle',
    'olm.deprecations',
    'custom',
    'other.one',
  ];
  const schema = pick(random, schemas);
  const members = [
    member(anyCase(random, 'schema'), stringifyJson(schema)),
    ...(random(8) === 0 ? [] : [member(anyCase(random, 'name'), stringifyJson(`n${random(20)}`))]),
    ...(random(8) === 0
      ? []
      : [member(anyCase(random, 'package'), stringifyJson(`p${random(3)}`))]),
    ...fieldsOf(schema, random),
  ];
  return `{${members.join(', ')}}`;
}

function fieldsOf(schema: string, random: Random): readonly string[] {
  const properties = `[${list(random, () => `{"type": ${text(random)}, "value": ${value(random, 3)}}`)}]`;
  switch (schema) {
    case 'olm.package':
      return [
        member('description', text(random)),
        member(anyCase(random, 'defaultChannel'), text(random)),
        member('properties', properties),
      ];
    case 'olm.channel':
      return [
        member(
          'entries',
          `[${list(random, () => `{"name": ${text(random)}, "skips": [${text(random)}]}`)}, null]`,
        ),
        member('properties', properties),
      ];
    case 'olm.bundle':
      return [member('image', text(random)), member('properties', properties)];
    case 'olm.deprecations':
      return [
        member(
          'entries',
          `[{"reference": {"schema": "olm.bundle", "name": ${text(random)}}, "message": ${text(random)}}]`,
        ),
      ];
    default:
      return keys.filter(() => random(4) === 0).map((key) => member(key, value(random, 3)));
  }
}

function value(random: Random, depth: number): string {
  const kind = random(depth > 0 ? 6 : 4);
  if (kind === 0) return pick(random, numbers);
  if (kind === 1) return pick(random, ['true', 'false', 'null', '[]', '{}']);
  if (kind < 4) return text(random);
  if (kind === 4) return `[${list(random, () => value(random, depth - 1))}]`;
  const chosen = keys.filter(() => random(4) === 0);
  return `{${chosen.map((key) => member(key, value(random, depth - 1))).join(', ')}}`;
}

function member(key: string, written: string): string {
  return `${stringifyJson(key)}: ${written}`;
}

function text(random: Random): string {
  return stringifyJson(pick(random, texts));
}

function list(random: Random, item: () => string): string {
  return Array.from({ length: 1 + random(3) }, item).join(', ');
}

function anyCase(random: Random, key: string): string {
  return pick(random, [
    key,
    key,
    key,
    key.toUpperCase(),
    `${key.charAt(0).toUpperCase()}${key.slice(1)}`,
  ]);
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[random(choices.length)] as T;
}
