import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JsonValue, parseJson } from '../../api/json.ts';
import { type JsonSchema, validateObject } from '../../api/object-schema/index.ts';
import { ApiError, connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

type Case = readonly [name: string, schema: JsonSchema, ...values: readonly unknown[]];

const string: JsonSchema = { type: 'string' };
const integer: JsonSchema = { type: 'integer' };
const number: JsonSchema = { type: 'number' };

function formatCase(format: string, ...values: readonly unknown[]): Case {
  return [`format ${format}`, { type: 'string', format }, ...values];
}

function patternCase(pattern: string, ...values: readonly unknown[]): Case {
  return [`pattern ${pattern}`, { type: 'string', pattern }, ...values];
}

/** Each value is checked by the real API server and by us; what both say, but for the value, must be the same. */
const cases: readonly Case[] = [
  ['string', string, 'a', 1, 1.5, true, [], {}, null],
  ['integer', integer, 1, 1.5, 'a', true, [1], { a: 1 }, null, 9_007_199_254_740_993n],
  ['number', number, 1, 1.5, 'a', false],
  ['boolean', { type: 'boolean' }, true, 'true', 0],
  ['array', { type: 'array', items: integer }, [], [1, 'a', 2, 'b'], {}, 'a'],
  ['object', { type: 'object', properties: { a: string } }, {}, { a: 1, b: 2 }, [], 'x'],
  ['required', { type: 'object', required: ['a', 'b'], properties: { a: string, b: string } }, {}],
  [
    'required with a default',
    {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: { type: 'string', default: 'x' }, b: { ...string, nullable: true } },
    },
    {},
    { a: null, b: null },
    { b: 'x' },
  ],
  ['nullable', { type: 'string', nullable: true }, null, 1],
  ['nullable items', { type: 'array', items: string }, [null, 'a']],
  ['enum', { type: 'string', enum: ['a', 'b'] }, 'a', 'c', 'c"\n', 1],
  ['enum of numbers', { type: 'number', enum: [1, 2.5] }, 1, 2.5, 3, 1.25e-7, 1e21],
  ['nullable enum', { type: 'string', nullable: true, enum: ['a', null] }, null, 'b'],
  [
    'enum of objects',
    {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      enum: [{ a: 1 }],
    } as JsonSchema,
    { a: 1 },
    { a: [1, 'x', null, true, 1.5], b: {} },
  ],
  ['minimum', { type: 'integer', minimum: 3 }, 3, 2, -5],
  ['minimum with a fraction', { type: 'number', minimum: 2.5 }, 2, 2.5, 2.4, 1],
  ['exclusive minimum', { type: 'integer', minimum: 3, exclusiveMinimum: true }, 3, 4],
  ['maximum', { type: 'integer', maximum: 3 }, 3, 4, 9_007_199_254_740_993n],
  ['maximum with a fraction', { type: 'number', maximum: 2.5 }, 2.5, 2.6, 3, 1e21],
  ['exclusive maximum', { type: 'number', maximum: 3, exclusiveMaximum: true }, 3, 2.9],
  ['multipleOf', { type: 'integer', multipleOf: 3 }, 9, 10],
  ['multipleOf a fraction', { type: 'number', multipleOf: 0.5 }, 1.5, 1.2, 2],
  ['length', { type: 'string', minLength: 2, maxLength: 3 }, '😀', '😀😀😀', 'abcd', 'ab'],
  ['items', { type: 'array', items: integer, minItems: 1, maxItems: 2 }, [], [1], [1, 2, 3]],
  [
    'properties',
    { type: 'object', additionalProperties: integer, minProperties: 1, maxProperties: 2 },
    {},
    { a: 1 },
    { a: 1, b: 2, c: 3 },
    { a: 'x', 'b.c/d': null, __proto__x: 1 },
  ],
  ['names of JavaScript', { type: 'object', additionalProperties: integer }, { constructor: 'x' }],
  [
    'allOf',
    { type: 'string', allOf: [{ minLength: 2 }, { maxLength: 3 }, { pattern: '^a' }] },
    'ab',
    'a',
    'bcde',
  ],
  ['anyOf', { type: 'string', anyOf: [{ minLength: 4 }, { pattern: '^a' }] }, 'abcd', 'x'],
  [
    'anyOf of objects',
    {
      type: 'object',
      properties: { a: string, b: string, c: string },
      anyOf: [{ required: ['a'] }, { required: ['b', 'c'], properties: { c: { minLength: 2 } } }],
    },
    {},
    { c: 'x' },
    { b: 'x' },
  ],
  [
    'oneOf',
    {
      type: 'object',
      properties: { a: string, b: string },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    {},
    { a: 'x' },
    { a: 'x', b: 'y' },
  ],
  ['not', { type: 'string', not: { pattern: '^a' } }, 'b', 'ab'],
  ['int-or-string', { 'x-kubernetes-int-or-string': true }, 1, '50%', 1.5, true, {}, null],
  [
    'int-or-string as generated',
    { 'x-kubernetes-int-or-string': true, anyOf: [integer, string] },
    1,
    'a',
    1.5,
    [],
  ],
  [
    'any field',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as JsonSchema,
    { a: { b: [1] }, c: null },
    'x',
  ],
  [
    'embedded resource',
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    } as JsonSchema,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
    {},
    { apiVersion: '', kind: 'A' },
  ],
  [
    'deep',
    {
      type: 'array',
      items: {
        type: 'array',
        items: { type: 'object', required: ['a'], properties: { a: string } },
      },
    },
    [[{}], [{ a: 1 }]],
  ],
  ['format on another type', { type: 'object', format: 'date' }, {}, 'x'],
  ['unknown format', { type: 'string', format: 'semver' }, 'x', 1],
  formatCase('date', '2024-02-29', '2023-02-29', '2024-1-1', [], 7, true, {}),
  formatCase(
    'date-time',
    '2024-01-01T10:00:00Z',
    '2024-01-01t10:00:00.5+02:00',
    '2024-01-01T24:00:00Z',
    '2024-01-01 10:00:00Z',
    'x',
    1.5,
  ),
  formatCase('duration', '1h30m', '-1.5s', '3 days', '22 ns', 'x', '', '5', '1y'),
  formatCase('byte', 'YWJj', 'YQ==', 'a', '', 'YWJj\n'),
  formatCase('ipv4', '10.0.0.1', '010.0.0.01', '10.0.0.256', '::1', '::ffff:1.2.3.4', ''),
  formatCase('ipv6', '::1', 'fe80::1%eth0', '10.0.0.1', ''),
  formatCase('cidr', '10.0.0.0/8', '10.0.0.0/33', '::/0', '10.0.0.0'),
  formatCase('mac', '00:00:5e:00:53:01', '00-00-5e-00-53-01', '0000.5e00.5301', '00:00:5e', 'x'),
  formatCase(
    'uuid',
    '123e4567-e89b-12d3-a456-426614174000',
    '123E4567e89b12d3a456426614174000',
    'x',
  ),
  formatCase(
    'uuid3',
    '123e4567-e89b-32d3-a456-426614174000',
    '123e4567-e89b-12d3-a456-426614174000',
  ),
  formatCase(
    'uuid4',
    '123e4567-e89b-42d3-a456-426614174000',
    '123e4567-e89b-42d3-7456-426614174000',
  ),
  formatCase(
    'uuid5',
    '123e4567-e89b-52d3-a456-426614174000',
    '123e4567-e89b-12d3-a456-426614174000',
  ),
  formatCase(
    'uri',
    'https://example.com/a?b=c',
    '/path',
    'example.com',
    'mailto:a@b',
    '',
    'http://[::1]:80/',
    '%zz',
    'http://a b/',
  ),
  formatCase('email', 'a@b.c', 'A B <a@b.c>', 'a', 'a@', '@b', 'a@b', 'a..b@c'),
  formatCase('hostname', 'example.com', 'a', '-a', 'a_b', 'a..b', 'x'.repeat(64), '1.2.3.4', ''),
  formatCase('hexcolor', '#fff', 'abcdef', '#ffff'),
  formatCase('rgbcolor', 'rgb(1, 20,255)', 'rgb(256,0,0)'),
  formatCase('isbn', '0321751043', '978-0321751041', '978-0321751042'),
  formatCase('isbn10', '0321751043', '0321751044', '080442957X'),
  formatCase('isbn13', '978-0321751041', '0321751043'),
  formatCase('creditcard', '4111 1111 1111 1111', '4111111111111112', 'x'),
  formatCase('ssn', '123-45-6789', '123 45 678'),
  formatCase('password', 'anything'),
  formatCase('bsonobjectid', '507f1f77bcf86cd799439011', '507f1f77'),
  patternCase('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'a-b', 'a-', 'A'),
  patternCase('(?i)^abc$', 'ABC', 'abd'),
  patternCase('^a.c$', 'abc', 'a\nc', 'a\rc', 'a😀c'),
  patternCase('(?s)^a.c$', 'a\nc'),
  patternCase('(?m)^b$', 'a\nb', 'ab'),
  patternCase('^(?:a(?i)b|c)d$', 'aBD', 'ABd', 'Cd', 'cD'),
  patternCase('^\\d+\\.\\d+(?:-(?P<pre>[\\w.]+))?$', '1.2', '1.2-rc_1', '١.2'),
  patternCase('^[[:alpha:]_][^[:space:]\\-]*$', 'a_b', 'a b', 'a-b', 'ä'),
  patternCase('^\\pL+\\p{Greek}\\P{Lu}$', 'äαa', 'äαA', 'aaa'),
  patternCase('\\A\\Qa.b\\E\\z', 'a.b', 'axb', 'a.b\n'),
  patternCase('^a{,2}b{x$', 'a{,2}b{x', 'aab'),
  patternCase('^[]a-]+$', ']a-', 'b'),
  patternCase('^[\\w-]+@[\\w\\.\\-]+$', 'a-b@c.d', 'a b'),
  patternCase('^\\x41\\x{1F600}\\101\\t\\/\\_\\@\\ \\"$', 'A😀A\t/_@ "', 'x'),
  patternCase('^\\s$', ' ', '\v', '\u00a0'),
  patternCase('^(?:(?U)a+?)b\\b$', 'aab', 'b'),
  patternCase('^[^\\S\\n]+$', ' \t', '\n'),
  patternCase('^[\\x00-\\x7F]*$', 'abc', 'ü'),
  patternCase('^[+-]?[!-/]{1,3}]}$', '+!/]}', 'a'),
];

const id = randomUUID().slice(0, 6);
const group = `schema-${id}.example.com`;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
let kube: KubeConnection;

const properties = Object.fromEntries(cases.map(([, schema], index) => [`f${index}`, schema]));
const schema: JsonSchema = {
  type: 'object',
  properties: { spec: { type: 'object', properties } },
};

beforeAll(async () => {
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'crd-schema-test' });
  const names = { kind: 'Sample', listKind: 'SampleList', plural: 'samples', singular: 'sample' };
  const versions = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
  ];
  // kubectl's own validation knows no null in an enum.
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `samples.${group}` },
    spec: { group, scope: 'Cluster', names, versions },
  };
  await kube.client.request({ method: 'POST', path, body });
  const wait = ['wait', '--for=condition=Established', '--timeout=180s', `crd/samples.${group}`];
  await kubectl.must(wait);
  // What is established is served a moment later.
  await eventually(async () => await kubectl.must(['get', '--raw', `/apis/${group}/v1/samples`]));
});

afterAll(async () => {
  await kubectl.deleteNamed('crd', [`samples.${group}`], { wait: false, ignoreNotFound: true });
  await kube?.close();
});

/** What the API server says of the object, each text with its field, sorted. */
async function judgedByServer(object: object): Promise<readonly string[]> {
  const path = `/apis/${group}/v1/samples?dryRun=All`;
  try {
    await kube.client.request({ method: 'POST', path, body: object });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 422) throw error;
    const causes = error.status.details?.causes ?? [];
    const texts = causes.map(({ field, message }) => asOfV028(`${field}: ${message}`));
    return texts
      .filter((text) => !text.includes('Checked value must be'))
      .map(withoutValue)
      .toSorted();
  }
}

/** Later API servers have other words for one fault, and check the range of integers twice. */
function asOfV028(text: string): string {
  return text
    .replace(/^<nil>: /, ': ')
    .replace(/Too long: may not be more than (\d+) bytes/, 'Too long: may not be longer than $1');
}

/** Ours name its type in its place: whoever may ask need not be allowed to read custom resources. */
function withoutValue(text: string): string {
  return text
    .replace(
      /(value|many): (?:.*?: )?(?=\S* in body |supported values: |must |factor |"[^"]*" must )/s,
      '$1: … ',
    )
    .replace(/(in body must be of type [^:]+): .*$/s, '$1');
}

function judgedByUs(object: JsonValue): readonly string[] {
  return validateObject(object, schema)
    .texts.map((text) => withoutValue(text.replace(/^\[\]\.?/, '')))
    .toSorted();
}

test.each(cases.map(([name, , ...values], index) => ({ name, values, index })))(
  'our texts are the API server’s: $name',
  async ({ values, index }) => {
    for (const value of values) {
      const object = {
        apiVersion: `${group}/v1`,
        kind: 'Sample',
        metadata: { name: 'sample' },
        spec: { [`f${index}`]: value },
      };
      const stored = object as unknown as JsonValue;
      expect.soft(judgedByUs(stored), String(value)).toEqual(await judgedByServer(object));
    }
  },
);

test('numbers keep their digits on the way from the API server', () => {
  expect(parseJson('9007199254740993')).toBe(9_007_199_254_740_993n);
});
