import { beforeAll, describe, expect, test } from 'vitest';
import { errorMessage } from '../../../core/sdk.ts';
import type { ChartEngine, RenderRequest } from './chart-engine.ts';
import { loadChartEngine, sharedEngine } from './wasm-chart-engine.ts';

let engines: readonly ChartEngine[];

beforeAll(async () => {
  engines = [await sharedEngine(), await loadChartEngine()];
}, 600_000);

type Texts = Readonly<Record<string, string>>;

function aRequest(texts: Texts, values = ''): RenderRequest {
  const chart = { 'Chart.yaml': '{apiVersion: v2, name: web, version: 1.0.0}', ...texts };
  return {
    files: new Map(Object.entries(chart).map(([path, text]) => [path, Buffer.from(text)])),
    values: [{ name: 'values', text: values }],
    release: { name: 'demo', namespace: 'shop' },
    kubeVersion: 'v1.36.3',
    apiVersions: ['v1', 'apps/v1', 'apps/v1/Deployment'],
    seed: Buffer.alloc(32, 18),
    now: new Date('2026-01-02T03:04:05Z'),
  };
}

/** The results of equal requests, from two instances; one, if they are all equal. */
function results(texts: Texts, values?: string): readonly string[] {
  const request = aRequest(texts, values);
  const all = engines.flatMap((engine) => Array.from({ length: 5 }, () => result(engine, request)));
  return [...new Set(all)];
}

function result(engine: ChartEngine, request: RenderRequest): string {
  try {
    const { manifests, warnings } = engine.render(request);
    return [...manifests.map(({ path, text }) => `${path}: ${text}`), ...warnings].join('\n');
  } catch (error) {
    return errorMessage(error);
  }
}

const eight = 'm: {h: 8, g: 7, f: 6, e: 5, d: 4, c: 3, b: 2, a: 1}';
const path = 'web/templates/a.yaml';

/** A template's text, with these values of the chart. */
function rendered(template: string, values = eight): readonly string[] {
  return results({ 'values.yaml': values, 'templates/a.yaml': template });
}

describe('a template has one order of', () => {
  test('keys, dictionary by dictionary', { tags: ['slow'] }, () => {
    expect(rendered('a: {{ keys .Values.m (dict "z" 1 "a" 2) | join "" }}')).toEqual([
      `${path}: a: abcdefghaz`,
    ]);
    expect(rendered('a: {{ keys | len }}{{ keys (dict) | len }}')).toEqual([`${path}: a: 00`]);
  });

  test('values: that of their keys', () => {
    expect(rendered('a: {{ values .Values.m | join "" }}')).toEqual([`${path}: a: 12345678`]);
    expect(rendered('a: {{ values (dict) | len }}')).toEqual([`${path}: a: 0`]);
  });

  test('random values drawn for keys', () => {
    const template = '{{ range keys .Values.m }}{{ . }}: {{ randAlphaNum 16 }}\n{{ end }}';
    const [text, ...others] = rendered(template);
    expect(text).toMatch(/^\S+: a: \w{16}\n(?:[b-h]: \w{16}\n?){7}$/);
    expect(others).toEqual([]);
  });

  // Each is less than the next one for yaml.v2, and the last one less than the first.
  const circle = 'm: {1a: 1, "2": 2, "12": 3, 3f: 4, "4": 5, "44": 6, 4a: 7, "5": 8}';

  test.each(['toYaml', 'mustToYaml', 'toYamlPretty', 'toJson', 'toToml', 'toString'])(
    'what %s prints, also of keys such as digests',
    (print) => {
      expect(rendered(`a: {{ ${print} .Values.m | sha256sum }}`, circle)).toHaveLength(1);
    },
  );

  test('keys that are one in JSON, of which the text counts', () => {
    const both = '{1: number, "1": text, true: flag, "true": text}';
    const template = '{{ index .Values.m "1" }} {{ index (.Values.text | fromYaml) "true" }}';
    expect(rendered(`a: ${template}`, `m: ${both}\ntext: '${both}'`)).toEqual([
      `${path}: a: text text`,
    ]);
  });

  test.each([
    'range $key, $value := .Values.m }}{{ $key }}{{ $value }}{{ randAlpha 3 }}{{ end',
    'mergeOverwrite (merge (dict "a" 0) .Values.m) (dict "b" 1) | toJson',
    'pick .Values.m "a" "b" | toJson }}{{ omit .Values.m "a" | toJson }}{{ pluck "a" .Values.m',
    'deepCopy .Values.m | quote }}{{ dig "a" 1 .Values.m }}{{ fromYamlArray "[{b: 1, a: 2}]"',
    'urlParse "http://a:b@c/d?e=f" | toJson }}{{ list 2 1 2 | uniq }}{{ .Capabilities',
    'join "," .Values.m }}{{ .Values.m | toStrings }}{{ .Release }}{{ .Chart',
  ])('all others: {{ %s }}', (template) => {
    expect(rendered(`a: '{{ ${template} }}'`)).toHaveLength(1);
  });
});

describe('files of a chart have one order', () => {
  const files = { 'conf/1a/x': 'first', 'conf/2/y': '2', 'conf/12/x': 'last', 'conf/2/a': 'a' };

  test.each([
    ['one by one', 'range $path, $_ := .Files.Glob "conf/**" }}{{ $path }}{{ end'],
    ['as text', '.Files.Glob "conf/**" | toString | sha256sum'],
    ['with names such as digests', '(.Files.Glob "names/*").AsConfig | sha256sum'],
  ])('%s', (_, template) => {
    const names = { 'names/1a': '', 'names/2': '', 'names/12': '' };
    const texts = { ...files, ...names, 'templates/a.yaml': `a: '{{ ${template} }}'` };
    expect(results(texts)).toHaveLength(1);
  });

  test('with the same name in two folders, of which the last one counts', () => {
    const template = (format: string) => ({
      ...files,
      'templates/a.yaml': `{{ (.Files.Glob "conf/**").${format} }}`,
    });
    expect(results(template('AsConfig'))).toEqual([`${path}: a: a\nx: first\n"y": "2"`]);
    expect(results(template('AsSecrets'))).toEqual([`${path}: a: YQ==\nx: Zmlyc3Q=\n"y": Mg==`]);
  });
});

describe('subcharts have one order', () => {
  const subchart = (folder: string, version: string) => ({
    [`charts/${folder}/Chart.yaml`]: `{apiVersion: v2, name: db, version: "${version}"}`,
    [`charts/${folder}/templates/a.yaml`]: `folder: ${folder}`,
  });
  const twice = { ...subchart('db-1', '1.1.0'), ...subchart('db-2', '1.0.0') };

  test('of the same name, of which the last one counts', () => {
    expect(results(twice)).toEqual(['web/charts/db/templates/a.yaml: folder: db-2']);
  });

  test('that meet one dependency, of which the first one counts', () => {
    const chart =
      '{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: db, version: 1.x}]}';
    expect(results({ ...twice, 'Chart.yaml': chart })).toEqual([
      'web/charts/db/templates/a.yaml: folder: db-1',
    ]);
  });

  test('that cannot be loaded', () => {
    expect(results({ ...subchart('a', ''), ...subchart('b', ''), ...subchart('c', '') })).toEqual([
      'error unpacking subchart a in web: validation: chart.metadata.version is required',
    ]);
  });
});

describe('what Helm says has one order', () => {
  test('of warnings', () => {
    const chart = '{a: 1, b: 1, c: 1, d: 1}';
    const values = '{a: {x: 1}, b: {x: 1}, c: {x: 1}, d: {x: 1}}';
    expect(results({ 'values.yaml': chart, 'templates/a.yaml': 'a: 1' }, values)).toEqual([
      [
        `${path}: a: 1`,
        ...['a', 'b', 'c', 'd'].map((key) => `warning: skipped value for web.${key}: Not a table.`),
      ].join('\n'),
    ]);
  });

  test("of a schema's findings below findings", () => {
    const text = (...keys: string[]) => ({
      properties: Object.fromEntries(keys.map((key) => [key, { type: 'string' }])),
      required: ['z'],
    });
    const schema = JSON.stringify({ anyOf: [text('a', 'b', 'c', 'd'), text('b', 'c', 'd')] });
    const values = '{a: 1, b: 1, c: 1, d: 1}';
    expect(results({ 'values.schema.json': schema, 'values.yaml': values })).toEqual([
      [
        "values don't meet the specifications of the schema(s) in the following chart(s):",
        'web:',
        "- at '': 'anyOf' failed",
        "  - at '': validation failed",
        "    - at '': missing property 'z'",
        ...['a', 'b', 'c', 'd'].map((key) => `    - at '/${key}': got number, want string`),
        "  - at '': validation failed",
        "    - at '': missing property 'z'",
        ...['b', 'c', 'd'].map((key) => `    - at '/${key}': got number, want string`),
        '',
      ].join('\n'),
    ]);
  });
});
