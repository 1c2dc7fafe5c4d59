import { describe, expect, it } from 'vitest';
import {
  type BundleFiles,
  type BundleSource,
  type DeploymentContext,
  TerminalError,
} from '../../core/sdk.ts';
import { anArchive } from '../../test/helpers/archives.ts';
import { aBundle, aBundleDeployment, aContext, bundleFiles } from '../../testing/index.ts';
import type { ChartEngine, ChartFiles, RenderRequest } from './engine/chart-engine.ts';
import { helmClass } from './helm-class.ts';

const chart = { 'Chart.yaml': 'name: web\nversion: 1.0.0\n', 'templates/a.yaml': '' };
const inFolder = Object.fromEntries(
  Object.entries(chart).map(([path, text]) => [`web/${path}`, text]),
);

/** Says of a chart what Helm's says, and renders one object. */
class FakeEngine implements ChartEngine {
  readonly requests: RenderRequest[] = [];
  readonly failure: string | undefined;
  readonly warnings: string[] = [];

  constructor(failure?: string) {
    this.failure = failure;
  }

  inspect(files: ChartFiles): ReturnType<ChartEngine['inspect']> {
    if (!files.has('Chart.yaml')) throw new TerminalError('Chart.yaml file is missing');
    return { name: 'web', version: '1.0.0', deprecated: false, dependencies: [] };
  }

  render(request: RenderRequest): ReturnType<ChartEngine['render']> {
    this.requests.push(request);
    if (this.failure !== undefined) throw new TerminalError(this.failure);
    const text = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n';
    const manifests = [{ path: 'web/templates/a.yaml', text }];
    return { crds: [], manifests, hooks: [], notes: '', warnings: this.warnings };
  }
}

async function unpack(files: BundleFiles, source?: BundleSource): Promise<readonly string[]> {
  const { bundle } = helmClass(async () => new FakeEngine());
  const owner = aBundle(source === undefined ? {} : { source });
  const stored = await bundle!(files, owner, aContext());
  return [...stored.files.keys()];
}

describe('a chart', () => {
  const nested = ['chart/Chart.yaml', 'chart/templates/a.yaml'];
  const foldered = Object.keys(inFolder);

  it.each([
    ['at the root', chart, nested],
    ['at the root with one folder', { 'Chart.yaml': 'name: web' }, ['chart/Chart.yaml']],
    ['in a folder', inFolder, foldered],
  ])('%s is stored in one folder', async (_, files, expected) => {
    expect(await unpack(bundleFiles(files))).toEqual(expected);
  });

  it.each(['web-1.0.0.tgz', 'dist/web.tar.gz'])('packed as %s is unpacked', async (path) => {
    const packed = await anArchive(inFolder);
    expect(await unpack(bundleFiles({ [path]: packed }))).toEqual(foldered);
    expect(await unpack(bundleFiles({ [path]: packed, [`${path}.prov`]: 'signed' }))).toEqual(
      foldered,
    );
  });

  const http = { type: 'http', http: { url: 'https://charts.example/web-1.0.0.tgz' } };
  const git = { type: 'git', git: { repository: 'https://git.example/web', ref: { tag: 'v1' } } };
  const ignoring = {
    ...inFolder,
    'web/.helmignore': '*.json\n',
    'web/charts/db/.helmignore': '*.txt\n',
    'web/charts/db/dashboard.json': '{}',
  };
  const others = Object.keys(ignoring).filter((path) => path !== 'web/.helmignore');

  it('that is packed has no rules of .helmignore, which Helm applies to folders', async () => {
    const packed = bundleFiles({ 'web-1.0.0.tgz': await anArchive(ignoring) });
    expect(new Set(await unpack(packed, git))).toEqual(new Set(others));
    expect(new Set(await unpack(bundleFiles(ignoring), http))).toEqual(new Set(others));
  });

  it.each([undefined, git])('in a folder keeps .helmignore: %j', async (source) => {
    expect(await unpack(bundleFiles(ignoring), source)).toContain('web/.helmignore');
  });

  it.each([
    [{}, 'Chart.yaml file is missing'],
    [{ 'a/Chart.yaml': '', 'b/Chart.yaml': '' }, 'Chart.yaml file is missing'],
    [{ 'web.tgz': 'none at all' }, 'unpack chart archive "web.tgz": gzip: invalid header'],
  ])('is not what %j is', async (files, message) => {
    await expect(unpack(bundleFiles(files))).rejects.toThrow(new TerminalError(message));
  });

  it('is unpacked within the limits', async () => {
    const { bundle } = helmClass(async () => new FakeEngine());
    const files = bundleFiles({ 'web.tgz': await anArchive(inFolder) });
    const limits = { ...aContext().limits, maxEntries: 2 };
    await expect(bundle!(files, aBundle(), aContext({ limits }))).rejects.toThrow(
      'unpack chart archive "web.tgz": archive has more than 2 entries (--max-content-entries)',
    );
  });
});

interface Render {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly context?: Partial<DeploymentContext>;
  readonly engine?: FakeEngine;
}

async function render({ config = {}, context, engine = new FakeEngine() }: Render) {
  const { deployment } = helmClass(async () => engine);
  const owner = aBundleDeployment({ name: 'shop', config });
  const objects = await deployment!(bundleFiles(inFolder), owner, aContext(context));
  return { objects, request: engine.requests[0]! };
}

function inputs(...texts: (string | undefined)[]): Partial<DeploymentContext> {
  return { inputs: texts.map((text) => (text === undefined ? text : Buffer.from(text))) };
}

const valuesFrom = [
  { kind: 'ConfigMap', name: 'base' },
  { kind: 'Secret', name: 'pass', valuesKey: 'p.yaml', optional: true },
];

describe('a rendering', () => {
  it('is of the release and the cluster', async () => {
    const { request, objects } = await render({});
    expect(request.release).toEqual({ name: 'shop', namespace: 'rukpak-system' });
    expect(request.kubeVersion).toBe('v1.36.3');
    expect(request.apiVersions).toContain('apps/v1/Deployment');
    expect(request.seed).toEqual(aContext().seed);
    expect([...request.files.keys()]).toEqual(['Chart.yaml', 'templates/a.yaml']);
    expect(objects).toEqual([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }]);
  });

  it('may be for another namespace', async () => {
    const { request, objects } = await render({ config: { releaseNamespace: 'front' } });
    expect(request.release.namespace).toBe('front');
    expect(objects[0]?.metadata.namespace).toBe('front');
  });

  it('is dated from the creation of the deployment, or from a later time that renews certificates', async () => {
    const { creationTimestamp } = aBundleDeployment().metadata;
    const { request } = await render({});
    expect(request.now).toEqual(new Date(creationTimestamp ?? 0));
    const templateTime = '2027-01-01T00:00:00Z';
    const later = await render({ config: { templateTime } });
    expect(later.request.now).toEqual(new Date(templateTime));
  });

  it('needs no engine to say what it asks for', async () => {
    const helm = helmClass(async () => {
      throw new Error('the engine is loaded');
    });
    expect(await helm.inputs!(aBundleDeployment(), aContext())).toEqual([]);
  });

  it('declares the inputs of valuesFrom', async () => {
    const helm = helmClass(async () => new FakeEngine());
    const deployment = aBundleDeployment({ config: { valuesFrom } });
    expect(await helm.inputs!(deployment, aContext())).toEqual([
      { kind: 'ConfigMap', name: 'base', key: 'values.yaml' },
      { kind: 'Secret', name: 'pass', key: 'p.yaml', optional: true },
    ]);
  });

  it('takes values in order, its own last, each exact', async () => {
    const values = { big: 12345678901234567890n, text: '1e3' };
    const context = inputs('a: 1\n', 'b: 2\n');
    const { request } = await render({ config: { valuesFrom, values }, context });
    expect(request.values).toEqual([
      { name: 'key "values.yaml" of ConfigMap "base" (spec.config.valuesFrom[0])', text: 'a: 1\n' },
      { name: 'key "p.yaml" of Secret "pass" (spec.config.valuesFrom[1])', text: 'b: 2\n' },
      { name: 'spec.config.values', text: '{"big":12345678901234567890,"text":"1e3"}' },
    ]);
    const config = { valuesFrom, values: 'c: 3' };
    const without = await render({ config, context: inputs('a: 1', undefined) });
    expect(without.request.values.map(({ text }) => text)).toEqual(['a: 1', 'c: 3']);
  });

  it.each([
    ['a: b: c', 'error converting YAML to JSON: yaml: line 1: '],
    ['text', 'the values are a string: they must be a map, such as "key: value"'],
  ])('refuses %j as values', async (values, problem) => {
    await expect(render({ config: { values } })).rejects.toThrow(`read chart values: ${problem}`);
    await expect(
      render({ config: { valuesFrom }, context: inputs(values, undefined) }),
    ).rejects.toThrow(
      `read chart values: key "values.yaml" of ConfigMap "base" (spec.config.valuesFrom[0]): ${problem}`,
    );
  });

  it('fails when an old manager provides no facts of the cluster', async () => {
    const { cluster: _, ...context } = aContext();
    const { deployment } = helmClass(async () => new FakeEngine());
    await expect(deployment!(bundleFiles(inFolder), aBundleDeployment(), context)).rejects.toThrow(
      'its manager gives it none',
    );
  });
});

describe('what a Secret holds', () => {
  it.each(['a: 1\nhunter2: [', 'hunter2'])('is not in the error of %j', async (text) => {
    const failed = render({ config: { valuesFrom }, context: inputs('', text) });
    await expect(failed).rejects.toThrow(
      /^read chart values: key "p.yaml" of Secret "pass" \(spec.config.valuesFrom\[1\]\)(?:, line \d+)?: it is not a YAML map; its content is not shown$/,
    );
    await expect(failed).rejects.not.toHaveProperty('cause');
  });

  it('is not in an error of the chart', async () => {
    const password = 'hunter2"\nand more';
    const encoded = Buffer.from(password).toString('base64');
    const told = `fail: ${password}, ${JSON.stringify(password)}, ${encoded}, port 31337, on`;
    const text = `auth: {password: ${JSON.stringify(password)}, ports: [31337], tls: true, mode: on1}`;
    const failed = render({
      config: { valuesFrom },
      context: inputs('', text),
      engine: new FakeEngine(told),
    });
    const secret = '<of a Secret>';
    await expect(failed).rejects.toThrow(
      new TerminalError(`fail: ${secret}, "${secret}", ${secret}, port ${secret}, on`),
    );
  });

  it('is not in an error that quotes it as JSON of Go or in an address', async () => {
    const text = 'password: a<b&c/d@e';
    const engine = new FakeEngine('fail: "a\\u003cb\\u0026c/d@e" of db://me:a%3Cb%26c%2Fd%40e@db');
    const failed = render({ config: { valuesFrom }, context: inputs('', text), engine });
    const secret = '<of a Secret>';
    await expect(failed).rejects.toThrow(
      new TerminalError(`fail: "${secret}" of db://me:${secret}@db`),
    );
  });

  it('is not in what the log says of the chart', async () => {
    const told: object[] = [];
    const logger = { ...aContext().logger, warn: (fields: object) => told.push(fields) };
    const engine = new FakeEngine();
    engine.warnings.push('cannot overwrite table with hunter2');
    const context = { ...inputs('', 'password: hunter2'), logger };
    await render({ config: { valuesFrom }, context, engine });
    expect(told).toEqual([{ warning: 'cannot overwrite table with <of a Secret>' }]);
  });
});
