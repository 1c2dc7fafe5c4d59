import { describe, expect, it } from 'vitest';
import { parseManifests, parseObjects } from './parse-manifests.ts';

const path = 'manifests/f.yaml';

function parse(text: string): unknown {
  return parseManifests(path, Buffer.from(text));
}

function anObject(kind: string, fields: object = {}): object {
  return { apiVersion: 'v1', kind, metadata: {}, ...fields };
}

describe('documents', () => {
  it.each(['{"kind":"A"}\n', '---\nkind: A\n', '{"kind":"A"}\n---\n'])(
    'are read no further than there may be: %j',
    (text) => {
      const content = Buffer.from(text.repeat(100));
      expect(parseManifests(path, content, 100)).toHaveLength(100);
      expect(() => parseManifests(path, content, 99)).toThrow('bundle has more than 99 objects');
      expect(() => parseObjects(content, 99)).toThrow('bundle has more than 99 objects');
    },
  );

  it.each([
    ['one', 'apiVersion: v1\nkind: A\n', ['A']],
    ['several', 'apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n', ['A', 'B']],
    [
      'empty ones between',
      '# c\n---\n\n---  # d\napiVersion: v1\nkind: A\n---\n# e\n---\nnull\n---',
      ['A'],
    ],
    ['none', '', []],
    ['CRLF', 'apiVersion: v1\r\nkind: A\r\n---\r\napiVersion: v1\r\nkind: B\r\n', ['A', 'B']],
    ['a byte order mark', '\ufeffapiVersion: v1\nkind: A\n', ['A']],
    ['JSON', ' \n{"apiVersion":"v1","kind":"A"}\n', ['A']],
    [
      'JSON objects in a row',
      '{"apiVersion":"v1","kind":"A"}{"apiVersion":"v1","kind":"B"}',
      ['A', 'B'],
    ],
    [
      'JSON, then YAML',
      '{"apiVersion":"v1","kind":"A"}\n---\napiVersion: v1\nkind: B\n',
      ['A', 'B'],
    ],
    ['YAML that looks like JSON', '{apiVersion: v1, "kind": A}', ['A']],
  ])('%s', (_, text, kinds) => {
    expect(parse(text)).toEqual(kinds.map((kind) => anObject(kind)));
  });

  it('separators only end a line that starts with them', () => {
    expect(parse('apiVersion: v1\nkind: A\na: |\n  x\n  ---\n  y\nb: "c --- d"\n')).toEqual([
      anObject('A', { a: 'x\n---\ny\n', b: 'c --- d' }),
    ]);
  });

  it('keeps the digits of large integers in YAML and JSON', () => {
    const expected = [anObject('A', { size: 9007199254740993n })];
    expect(parse('apiVersion: v1\nkind: A\nsize: 9007199254740993\n')).toEqual(expected);
    expect(parse('{"apiVersion":"v1","kind":"A","size":9007199254740993}')).toEqual(expected);
  });

  it('keeps __proto__ in JSON as data', () => {
    const [object = {}] = parse('{"kind":"A","__proto__":{"x":1}}') as object[];
    expect(Object.entries(object)).toContainEqual(['__proto__', { x: 1 }]);
  });
});

describe('lists', () => {
  it.each([
    ['List', '[{apiVersion: v1, kind: A}, {apiVersion: v1, kind: B}]', ['A', 'B']],
    ['PodList', '[{metadata: {}}, {apiVersion: v1, kind: A}]', ['Pod', 'A']],
    ['List', '[]', []],
    ['List', 'null', []],
    ['List', '[{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: A}]}]', ['A']],
  ])('%s of %s', (kind, items, kinds) => {
    const text = `apiVersion: v1\nkind: ${kind}\nitems: ${items}\n`;
    expect(parse(text)).toEqual(kinds.map((kind) => anObject(kind)));
  });

  it('stay one object for parseObjects', () => {
    const text = 'apiVersion: v1\nkind: List\nitems: [{kind: A}]\n---\n';
    expect(parseObjects(Buffer.from(text))).toEqual([anObject('List', { items: [{ kind: 'A' }] })]);
  });
});

describe('what cannot be decoded', () => {
  const detector = 'into Go value of type unstructured.detector';
  it.each([
    ['hello', `json: cannot unmarshal string ${detector}`],
    ['- a', `json: cannot unmarshal array ${detector}`],
    ['12', `json: cannot unmarshal number ${detector}`],
    ['on', `json: cannot unmarshal bool ${detector}`],
    ['b: "<&>"\na: 1', `Object 'Kind' is missing in '{"a":1,"b":"\\u003c\\u0026\\u003e"}'`],
    ['{"b": 1,  "a":2}', `Object 'Kind' is missing in '{"b": 1,  "a":2}'`],
    ['kind: ""', `Object 'Kind' is missing in '{"kind":""}'`],
    ['kind: 5', `Object 'Kind' is missing in '{"kind":5}'`],
    ['Kind: A', `Object 'Kind' is missing in '{"Kind":"A"}'`],
    ['kind: List\nitems: [{a: 1}]', `Object 'Kind' is missing in '{"a":1}'`],
    [
      'kind: List\nitems: {}',
      'json: cannot unmarshal object into Go struct field decodeList.items of type []json.RawMessage',
    ],
    [
      'kind: A\napiVersion: 1',
      'json: cannot unmarshal number into Go struct field metadataOnlyObject.apiVersion of type string',
    ],
    [
      'kind: A\nmetadata: a',
      'json: cannot unmarshal string into Go struct field metadataOnlyObject.metadata of type v1.ObjectMeta',
    ],
  ])('%j: %s', (text, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        name: 'TerminalError',
        message: `unable to decode "${path}": ${message}`,
      }),
    );
  });

  it.each([
    ['name: 123', 'number into Go struct field ObjectMeta.metadata.name of type string'],
    ['namespace: on', 'bool into Go struct field ObjectMeta.metadata.namespace of type string'],
    ['uid: 1', 'number into Go struct field ObjectMeta.metadata.uid of type types.UID'],
    ['labels: {a: 1}', 'number into Go struct field ObjectMeta.metadata.labels of type string'],
    [
      'labels: []',
      'array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    ],
    [
      'annotations: {a: no}',
      'bool into Go struct field ObjectMeta.metadata.annotations of type string',
    ],
    [
      'finalizers: [1]',
      'number into Go struct field ObjectMeta.metadata.finalizers of type string',
    ],
    [
      'finalizers: {}',
      'object into Go struct field ObjectMeta.metadata.finalizers of type []string',
    ],
    [
      'generation: 1.5',
      'number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64',
    ],
    [
      'ownerReferences: [{name: 1}]',
      'number into Go struct field OwnerReference.metadata.ownerReferences.name of type string',
    ],
    [
      'creationTimestamp: 1',
      'number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
    ],
  ])('metadata with %s', (field, message) => {
    expect(() => parse(`apiVersion: v1\nkind: A\nmetadata: {${field}}\n`)).toThrow(
      `unable to decode "${path}": json: cannot unmarshal ${message}`,
    );
  });

  it('a time that is none', () => {
    expect(() => parse('kind: A\nmetadata: {creationTimestamp: foo}\n')).toThrow(
      `unable to decode "${path}": parsing time "foo"`,
    );
  });

  it('but nulls and times are fine in metadata', () => {
    const metadata = { name: null, labels: { a: null }, creationTimestamp: '2020-01-01T00:00:00Z' };
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'A', metadata });
    expect(parse(text)).toEqual([anObject('A', { metadata })]);
  });

  it('shows no more of a large document than a message can bear', () => {
    expect(() => parse(`a: ${'x'.repeat(1_000_000)}`)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1000,1200}…'$/) }),
    );
  });
});

describe('what cannot be parsed', () => {
  it.each([
    ['a: b\n---\nc: [\n', 'error converting YAML to JSON: yaml: line 4: '],
    ['---foo\nkind: A\n', 'invalid Yaml document separator: foo'],
    ['--- {kind: A}\n', 'invalid Yaml document separator: {kind: A}'],
    [
      '{"kind":"A"}{"kind":"B"}x',
      "json: offset 24: invalid character 'x' looking for beginning of value",
    ],
    ['{"kind":"A","n":1e400}', 'json: cannot unmarshal a number beyond the range of float64'],
    ['{"kind":"A"', 'error converting YAML to JSON: yaml: line '],
    [
      `{"kind":"A","n":${'['.repeat(9999)}${']'.repeat(9999)}}`,
      'error converting YAML to JSON: yaml: exceeded max depth of 256',
    ],
    [
      `{"a":`.repeat(9999),
      'error converting YAML to JSON: yaml: line 1: exceeded max depth of 256',
    ],
  ])('%j: %s', (text, message) => {
    expect(() => parse(text)).toThrow(`error parsing ${path}: ${message}`);
  });
});

describe('arguments that are none', () => {
  const bytes = Buffer.from('kind: ConfigMap\n');

  it.each<[string, readonly unknown[]]>([
    ['the other way round', [bytes, 'manifests/a.yaml']],
    ['without the path', [bytes]],
    ['text', ['manifests/a.yaml', 'kind: ConfigMap\n']],
  ])('of parseManifests are refused: %s', (_what, given) => {
    expect(() => parseManifests(...(given as [string, Uint8Array]))).toThrow(
      new TypeError(
        'parseManifests(path, content) needs the path of the file, a string, and then its content, a Uint8Array',
      ),
    );
  });

  it('of parseObjects are refused', () => {
    expect(() => parseObjects('manifests/a.yaml' as never)).toThrow(
      new TypeError('parseObjects(content) needs the content of a file, a Uint8Array'),
    );
  });
});
