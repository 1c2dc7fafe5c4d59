import { beforeAll, describe, expect, test } from 'vitest';
import { TerminalError } from '../../../core/sdk.ts';
import { type ChartEngine, type RenderRequest } from './chart-engine.ts';
import { loadChartEngine, sharedEngine } from './wasm-chart-engine.ts';

let engine: ChartEngine;

beforeAll(async () => {
  engine = await sharedEngine();
}, 600_000);

function files(texts: Readonly<Record<string, string>>): ReadonlyMap<string, Uint8Array> {
  const chart = { 'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n', ...texts };
  return new Map(Object.entries(chart).map(([path, text]) => [path, Buffer.from(text)]));
}

function aRequest(
  texts: Readonly<Record<string, string>>,
  overrides: Partial<RenderRequest> = {},
): RenderRequest {
  return {
    files: files(texts),
    values: [],
    release: { name: 'demo', namespace: 'shop' },
    kubeVersion: 'v1.36.3',
    apiVersions: ['v1'],
    ...overrides,
  };
}

/** The text of one template. */
function rendered(template: string, overrides: Partial<RenderRequest> = {}, by = engine): string {
  const request = aRequest({ 'templates/a.yaml': template }, overrides);
  return by
    .render(request)
    .manifests.map(({ text }) => text)
    .join('\n');
}

describe('a chart is inspected', () => {
  test('for the fields of Chart.yaml', () => {
    const chart = `
apiVersion: v2
name: web
version: 1.2.3
appVersion: "7"
description: A web server
kubeVersion: ">=1.30"
deprecated: true
dependencies:
  - {name: db, version: 1.x, repository: "https://example.com/charts", alias: main}
`;
    const db = '{apiVersion: v2, name: db, version: 1.0.0}';
    expect(engine.inspect(files({ 'Chart.yaml': chart, 'charts/db/Chart.yaml': db }))).toEqual({
      name: 'web',
      version: '1.2.3',
      appVersion: '7',
      description: 'A web server',
      kubeVersion: '>=1.30',
      deprecated: true,
      dependencies: [
        { name: 'db', version: '1.x', repository: 'https://example.com/charts', alias: 'main' },
      ],
    });
  });

  test('and leaves out what it does not say', () => {
    const chart = { name: 'web', version: '1.0.0', deprecated: false, dependencies: [] };
    expect(engine.inspect(files({}))).toEqual(chart);
  });

  test.each([
    [
      'a library chart',
      '{apiVersion: v2, name: lib, version: 1.0.0, type: library}',
      'library charts are not installable',
    ],
    ['no version', '{apiVersion: v2, name: web}', 'chart.metadata.version is required'],
    ['another format', '{apiVersion: v3, name: web, version: 1.0.0}', 'unsupported chart version'],
  ])('and refused: %s', (_, chart, message) => {
    expect(() => engine.inspect(files({ 'Chart.yaml': chart }))).toThrow(TerminalError);
    expect(() => engine.inspect(files({ 'Chart.yaml': chart }))).toThrow(message);
  });

  test('and refused without a Chart.yaml', () => {
    expect(() => engine.inspect(new Map())).toThrow('Chart.yaml file is missing');
  });
});

describe('a chart is rendered', () => {
  test('to CRDs, manifests in the order of installation, hooks and notes', () => {
    const chart = engine.render(
      aRequest({
        'crds/c.yaml': 'kind: CustomResourceDefinition\n',
        'templates/a.yaml': 'kind: Deployment\n---\nkind: Service\n',
        'templates/empty.yaml': '{{ if false }}kind: Never{{ end }}',
        'templates/hook.yaml':
          'kind: Job\nmetadata:\n  name: migrate\n  annotations:\n' +
          '    helm.sh/hook: pre-install,post-upgrade\n    helm.sh/hook-weight: "-3"\n' +
          '    helm.sh/hook-delete-policy: hook-succeeded',
        'templates/NOTES.txt': 'Hello {{ .Release.Name }}',
      }),
    );
    const path = 'web/templates/a.yaml';
    expect(chart.crds).toEqual([
      { path: 'web/crds/c.yaml', text: 'kind: CustomResourceDefinition\n' },
    ]);
    expect(chart.manifests.map((file) => [file.path, file.text.trim()])).toEqual([
      [path, 'kind: Service'],
      [path, 'kind: Deployment'],
    ]);
    expect(chart.hooks).toMatchObject([
      {
        path: 'web/templates/hook.yaml',
        kind: 'Job',
        name: 'migrate',
        events: ['pre-install', 'post-upgrade'],
        weight: -3,
        deletePolicies: ['hook-succeeded'],
      },
    ]);
    expect(chart.notes).toBe('Hello demo');
  });

  test('with what Helm says besides', () => {
    const deprecated = '{apiVersion: v2, name: web, version: 1.0.0, deprecated: true}';
    const { warnings } = engine.render(aRequest({ 'Chart.yaml': deprecated }));
    expect(warnings).toEqual(['this chart is deprecated']);
  });

  test('with documents of values, whose name an error tells', () => {
    const values = [
      { name: 'first', text: 'a: 1\nb: 1' },
      { name: 'second', text: 'b: 2' },
    ];
    expect(rendered('a: {{ .Values.a }}{{ .Values.b }}', { values })).toBe('a: 12');
    const broken = [{ name: 'spec.config.values', text: '[' }];
    expect(() => rendered('a: 1', { values: broken })).toThrow(
      /^failed to parse spec\.config\.values: cannot unmarshal yaml document/,
    );
  });

  test('again after an error', () => {
    expect(() => rendered('{{ fail "no" }}')).toThrow(
      new TerminalError('execution error at (web/templates/a.yaml:1:3): no'),
    );
    expect(rendered('a: {{ .Release.Name }}')).toBe('a: demo');
  });

  test('with findings of a schema in one order', () => {
    const schema =
      '{"required": ["z", "a"], "properties": {"b": {"type": "string"}, "c": {"type": "string"}, "d": {"type": "string"}}, "additionalProperties": false}';
    const request = aRequest({
      'values.schema.json': schema,
      'values.yaml': '{b: 1, c: 2, d: 3, e: 4, f: 5}',
    });
    for (let i = 0; i < 5; i++) {
      expect(() => engine.render(request)).toThrow(
        [
          'web:',
          "- at '': additional properties 'e', 'f' not allowed",
          "- at '': missing properties 'z', 'a'",
          "- at '/b': got number, want string",
          "- at '/c': got number, want string",
          "- at '/d': got number, want string",
          '',
        ].join('\n'),
      );
    }
  });
});

describe('a chart reaches nothing', () => {
  test('no cluster: lookup is refused, and says where and what to do', () => {
    const template = 'kind: A\na: {{ lookup "v1" "Secret" "shop" "password" }}';
    expect(() => rendered(template)).toThrow(
      new TerminalError(
        'template: web/templates/a.yaml:2:6: executing "web/templates/a.yaml" at <lookup "v1" "Secret" "shop" "password">: ' +
          'error calling lookup: lookup "v1" "Secret" "shop" "password" is refused: a chart is rendered without the cluster; ' +
          'with lookup: Empty in spec.config every lookup finds nothing',
      ),
    );
    expect(rendered(template, { lookup: 'empty' })).toBe('kind: A\na: map[]');
  });

  test('no name server', () => {
    expect(rendered('a: {{ getHostByName "localhost" | quote }}')).toBe('a: ""');
  });

  test.each(['http://127.0.0.1:1/a.json', 'https://example.com/a.json', 'file:///etc/passwd'])(
    'no other schema: %s',
    (reference) => {
      const schema = JSON.stringify({ properties: { a: { $ref: reference } } });
      expect(() => engine.render(aRequest({ 'values.schema.json': schema }))).toThrow(
        `$ref names "${reference}", and a chart is rendered without files and network`,
      );
    },
  );

  test('no environment', () => {
    expect(() => rendered('a: {{ env "HOME" }}')).toThrow('function "env" not defined');
  });
});

describe('random functions', () => {
  const template =
    'a: {{ randAlphaNum 8 }} {{ randInt 0 1000000 }} {{ shuffle "abcdefghij" }} {{ uuidv4 }} ' +
    '{{ now }} {{ genPrivateKey "ecdsa" | sha256sum }} {{ genSelfSignedCert "a" nil nil 3 | toJson | sha256sum }}';
  // The engine finds the primes of its RSA key soon: 80 ms of CPU, other seeds take up to 1 s.
  const seed = Buffer.alloc(32, 18);
  const now = new Date('2026-01-02T03:04:05Z');

  test('draw the same from the same seed, in any instance', {
    tags: ['slow'],
    timeout: 600_000,
  }, async () => {
    const first = rendered(template, { seed, now });
    expect(first).toContain('2026-01-02 03:04:05 +0000 UTC ');
    rendered('a: {{ randAlphaNum 3 }}');
    expect(rendered(template, { seed, now })).toBe(first);
    expect(rendered(template, { seed, now }, await loadChartEngine())).toBe(first);
  });

  const short = 'a: {{ randAlphaNum 20 }}';

  test('draw something else from another seed and for another release', () => {
    const release = { name: 'demo', namespace: 'other' };
    const drawn = [
      rendered(short, { seed }),
      rendered(short, { seed: Buffer.alloc(32, 8) }),
      rendered(short, { seed, release }),
    ];
    expect(new Set(drawn).size).toBe(3);
  });

  test('differ at every call without a seed', () => {
    expect(rendered(short)).not.toBe(rendered(short));
  });
});
