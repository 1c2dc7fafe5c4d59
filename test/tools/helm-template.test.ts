// @module-tag long
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chartFiles } from '../../provisioners/helm/chart-content.ts';
import {
  type ChartEngine,
  type RenderRequest,
} from '../../provisioners/helm/engine/chart-engine.ts';
import {
  loadChartEngine,
  readableError,
} from '../../provisioners/helm/engine/wasm-chart-engine.ts';
import helmClass from '../../provisioners/helm/index.ts';
import { aBundle, aContext, bundleFiles } from '../../testing/index.ts';
import { asHelmPrints } from '../helpers/helm/as-helm-prints.ts';
import { type ChartCase, chartCases } from '../helpers/helm/chart-case.ts';
import { HelmCommand, type Rendering } from '../helpers/helm/helm-command.ts';

const release = { name: 'demo', namespace: 'shop' };
const kubeVersion = 'v1.36.3';

let helm: HelmCommand;
let engine: ChartEngine;
/** What Helm takes a cluster to serve that it is told nothing of. */
let knownVersions: readonly string[];

beforeAll(async () => {
  helm = await HelmCommand.create();
  engine = await loadChartEngine();
  knownVersions = await versionsThatHelmKnows();
}, 900_000);

afterAll(async () => {
  await helm.remove();
});

async function versionsThatHelmKnows(): Promise<readonly string[]> {
  const chart = await helm.write(
    'versions',
    new Map([
      ['Chart.yaml', '{apiVersion: v2, name: versions, version: 1.0.0}'],
      ['templates/a.yaml', 'all: {{ .Capabilities.APIVersions | join " " }}'],
    ]),
  );
  const output = await helm.run(['template', chart]);
  return /all: (.*)/.exec(output)?.[1]?.split(' ') ?? [];
}

async function byHelm(chart: ChartCase): Promise<Rendering> {
  const folder = await helm.write(`charts/${chart.name}`, chart.files);
  const values = await helm.write(`values/${chart.name}`, chart.values);
  return await helm.template({
    ...release,
    release: release.name,
    folder,
    kubeVersion,
    apiVersions: chart.apiVersions,
    values: [...chart.values.keys()].map((name) => join(values, name)),
  });
}

async function byEngine(chart: ChartCase): Promise<Rendering> {
  const values = await helm.write(`values/${chart.name}`, chart.values);
  return render({
    files: chart.files,
    values: Array.from(chart.values, ([name, text]) => ({ name: join(values, name), text })),
    release,
    kubeVersion,
    apiVersions: [...knownVersions, ...chart.apiVersions],
    lookup: chart.lookup,
  });
}

function render(request: RenderRequest): Rendering {
  try {
    return { output: asHelmPrints(engine.render(request)) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** All that differs in errors: the longest are cut in the middle. */
function readable({ error, ...rendering }: Rendering): Rendering {
  return error === undefined ? rendering : { error: readableError(error) };
}

async function filesOf(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(folder, path), await readFile(path));
  }
  return files;
}

describe('the engine renders what helm template prints', () => {
  const cases = chartCases();

  test.each(cases.map((chart) => [chart.name, chart] as const))('%s', async (name, chart) => {
    const expected = await byHelm(chart);
    expect(Object.keys(expected)).toEqual([name.startsWith('error-') ? 'error' : 'output']);
    expect(await byEngine(chart)).toEqual(readable(expected));
  });

  test.each([
    ['as created', ''],
    [
      'with all of its options',
      'ingress: {enabled: true}\nautoscaling: {enabled: true}\nhttpRoute: {enabled: true}\nserviceAccount: {create: false}\n',
    ],
    [
      'with an image of another name',
      'image: {repository: example.com/app, tag: "7"}\nnameOverride: other\nreplicaCount: 3\n',
    ],
  ])('a chart that helm create makes, %s', async (title, text) => {
    const name = `created-${title.replaceAll(' ', '-')}`;
    await helm.run(['create', name]);
    const values = new Map(text === '' ? [] : [['values.yaml', text]]);
    const files = await filesOf(await helm.write(name, new Map()));
    const chart = { name, files, values, apiVersions: [], lookup: 'refuse' as const };
    const expected = await byHelm(chart);
    expect(expected.output).toContain(`name: demo-`);
    expect(await byEngine(chart)).toEqual(expected);
  });

  test('a packed subchart, a byte order mark, and files without an end of line', async () => {
    const sub = await helm.write(
      'packed-sub',
      new Map([
        ['Chart.yaml', '{apiVersion: v2, name: sub, version: 2.0.0}'],
        ['values.yaml', 'a: 1'],
        ['templates/a.yaml', 'kind: Packed\na: {{ .Values.a }}'],
        ['crds/c.yaml', 'kind: CustomResourceDefinition'],
      ]),
    );
    const packed = await helm.write('packed', new Map());
    await helm.run(['package', sub, '--destination', packed]);
    const files = new Map<string, Uint8Array>([
      [
        'Chart.yaml',
        Buffer.from(
          '\ufeffapiVersion: v2\nname: packer\nversion: 1.0.0\ndependencies: [{name: sub, version: 2.x}]',
        ),
      ],
      ['values.yaml', Buffer.from('\ufeffsub: {a: 2}')],
      ['templates/a.yaml', Buffer.from('\ufeffkind: A')],
      ['templates/b.yaml', Buffer.from('kind: B\r\nx: 1\r\n')],
      ['charts/sub-2.0.0.tgz', await readFile(join(packed, 'sub-2.0.0.tgz'))],
      ['charts/_ignored/Chart.yaml', Buffer.from('nothing')],
    ]);
    const chart = {
      name: 'packer',
      files,
      values: new Map(),
      apiVersions: [],
      lookup: 'refuse' as const,
    };
    const expected = await byHelm(chart);
    expect(expected.output).toContain('a: 2');
    expect(await byEngine(chart)).toEqual(expected);
  });

  test('a packed chart, whose .helmignore names files that its subchart has', async () => {
    const sub = await helm.write(
      'ignored-sub',
      new Map([
        ['Chart.yaml', '{apiVersion: v2, name: sub, version: 2.0.0}'],
        ['dashboard.json', '{"title": "Requests"}'],
        ['templates/secret.yaml', 'kind: Secret\na: {{ .Files.Get "dashboard.json" | quote }}'],
      ]),
    );
    const parent = await helm.write(
      'ignoring',
      new Map([
        ['Chart.yaml', '{apiVersion: v2, name: ignoring, version: 1.0.0}'],
        ['.helmignore', '*.json\nsecret*\n'],
        ['notes.json', '{}'],
        ['templates/secret.yaml', 'kind: Ignored'],
        ['templates/a.yaml', 'kind: A'],
      ]),
    );
    await helm.run(['package', sub, '--destination', join(parent, 'charts')]);
    await helm.run(['package', parent]);
    const folder = await helm.write('ignoring-1.0.0.tgz', new Map());
    const run = { ...release, release: release.name, folder, kubeVersion };
    const { output } = await helm.template({ ...run, apiVersions: [], values: [] });
    expect(output).toContain('kind: Secret\na: "{\\"title\\": \\"Requests\\"}"');

    const packed = bundleFiles({ 'ignoring-1.0.0.tgz': await readFile(folder) });
    const stored = await helmClass.bundle!(packed, aBundle(), aContext());
    const files = chartFiles(stored);
    const same = { release, kubeVersion, apiVersions: [...knownVersions], values: [] };
    expect(render({ ...same, files })).toEqual({ output });
  });
});
