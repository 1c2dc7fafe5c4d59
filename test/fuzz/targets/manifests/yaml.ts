import fc from 'fast-check';
import { type JsonValue, parseJson } from '../../../../api/json.ts';
import { TerminalError } from '../../../../core/errors.ts';
import { parseYaml, toYaml } from '../../../../core/manifests/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';
import { type Answer, askReference } from '../../reference/reference.ts';
import { expectPlain, isSameJson, shown } from './values.ts';

const words = ['- ', ': ', '? ', '&a ', '*a', '<<: ', '!!str ', '!!binary ', '!!int ', '!!float ']
  .concat([
    '| \n',
    '>-\n ',
    '|2\n  ',
    '"\\x41"',
    "''",
    '0o17',
    '0777',
    '0b11',
    '1_000',
    '.inf',
    '.nan',
  ])
  .concat([
    'y',
    'on',
    '~',
    'null',
    '2001-01-01',
    '1:30',
    '{a: b}',
    '[a, b]',
    '# c\n',
    '%YAML 1.1\n',
  ])
  .concat([
    '---\n',
    '...\n',
    '\t',
    '  ',
    '\n',
    '\r\n',
    '9223372036854775807',
    '1e3',
    '+.5',
    '=',
    '@',
  ]);

const scalar = fc
  .constantFrom('a', 'b: c', '1', '-1.5', '~', 'y', '"q\\n"', "'it''s'", '*x', '&x 1', '')
  .map(String);
const key = fc.constantFrom(
  'a',
  'b',
  '"c d"',
  "'e'",
  '1',
  'y',
  '? k\n',
  '<<',
  '__proto__',
  '!!str t',
);

/** Block and flow collections, not always well formed. */
const document = fc.letrec<{ node: string; block: string; flow: string }>((tie) => ({
  node: fc.oneof({ maxDepth: 4 }, scalar, tie('flow'), tie('block')),
  flow: fc.oneof(
    fc.array(tie('node'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(key, tie('node')), { maxLength: 3 })
      .map((members) => `{${members.map(([name, value]) => `${name}: ${value}`).join(', ')}}`),
  ),
  block: fc.oneof(
    fc
      .array(tie('node'), { minLength: 1, maxLength: 3 })
      .map((items) => lines(items.map((item) => `- ${indented(item)}`))),
    fc
      .array(fc.tuple(key, tie('node')), { minLength: 1, maxLength: 3 })
      .map((members) =>
        lines(
          members.map(
            ([name, value]) => `${name}:${value.startsWith('\n') ? '' : ' '}${indented(value)}`,
          ),
        ),
      ),
  ),
})).node;

function lines(parts: readonly string[]): string {
  return `\n${parts.join('\n')}`;
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

/** kubectl's dialect, compared with sigs.k8s.io/yaml. */
export const yaml: FuzzTarget = {
  name: 'yaml',
  seeds: [
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {app: a, "b": \'c\'}\ndata:\n  text: |\n    one\n     two\n  folded: >-\n    a\n    b\n',
    'base: &base\n  a: 1\n  b: [x, y, 0x1F, 017, 1e3, .5]\nderived:\n  <<: *base\n  b: ~\n  c: "\\u00e9\\n"\nlist:\n- - 1\n  - 2\n- k: v\n  "q": \'it\'\'s\'\n',
    '? a\n: b\n? [c, d]\n: - e\n',
    '!!map {a: !!str 1, b: !!int "2", c: !!binary aGk=, d: !!float 3}\n',
    '# comment\n%TAG ! tag:x,2000:\n---\na: "x\n  y\n\n  z"\n...\n',
    'a: -0.0\nb: 12345678901234567890\nc: 1_000\nd: 2001-12-14t21:59:43.10-05:00\ne: 190:20:30\nf: yes\ng: Null\n',
  ],
  words,
  made: document,
  refusals: [TerminalError],
  async read(input) {
    const ours = parseYaml(input);
    expectPlain(ours);
    if (typeof ours === 'object' && ours !== null) expectRoundTrip(ours);
    // A string or number is never a manifest; an empty document is skipped.
    if (typeof ours !== 'object' || hasLongLine(input) || hasOldBreak(input)) return;
    // kubectl adds a missing line break at the end before it parses.
    const text = textOf(input);
    const lines = text.endsWith('\n') ? text : `${text}\n`;
    const go = await askReference('yaml', Buffer.from(lines, 'utf8'));
    if (go !== undefined) compare(ours, go);
  },
};

function expectRoundTrip(value: object): void {
  const again = parseYaml(toYaml([value]).replace(/^---\n/, ''));
  if (isSameJson(again, value as JsonValue)) return;
  throw new Violation(`reads what it wrote as another value: ${shown(value)} as ${shown(again)}`);
}

/** Go refuses keys of more than 1,024 characters. */
function hasLongLine(input: Uint8Array): boolean {
  return textOf(input)
    .split('\n')
    .some((line) => line.length > 1_024);
}

/** Breaks of YAML 1.1 alone (docs/adr/0002). */
function hasOldBreak(input: Uint8Array): boolean {
  return /[\u2028\u2029]/u.test(textOf(input));
}

/** Documents that both accept must have one meaning; others are not compared. */
function compare(ours: JsonValue, { value, error }: Answer): void {
  if (error !== undefined) return;
  const theirs = parseJson(value as string);
  if (isSameJson(ours, theirs)) return;
  throw new Violation(`reads ${shown(ours)} where Go reads ${shown(theirs)}`);
}
