import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Condition } from '../../api/meta.ts';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { TestRepository } from '../../deploy/local/git/create-repository.ts';
import { type GitServer, startGitServer } from '../../deploy/local/git/git-server.ts';
import { anArchive } from '../helpers/archives.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { FileServer } from '../helpers/file-server.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aCRD, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushChart } from '../helpers/push-chart.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { writeKubeconfig } from '../helpers/service-account.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const className = 'core-rukpak-io-helm';
const systemNamespace = 'rukpak-system';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry, run: RukpakProcess });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('configmaps', 'core.rukpak.io/owner-name')).toEqual([]);
  }, patiently);
});

afterAll(async () => {
  await kubectl.deleteNamed('crd', ['gadgets.e2e.example.com'], { ignoreNotFound: true });
  await system.stop();
});

type Files = Readonly<Record<string, string>>;

const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
data:
  color: {{ .Values.color | quote }}
  size: {{ .Values.size | quote }}
  namespace: {{ .Release.Namespace }}
  random: {{ randAlphaNum 12 }}
  kube: {{ .Capabilities.KubeVersion.Major | quote }}
  serves: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
`;

/** By path inside of the chart's folder. */
function aChart(files: Files = {}, version = 1): Files {
  return {
    'Chart.yaml': `apiVersion: v2\nname: web\nversion: ${version}.0.0\n`,
    'values.yaml': 'color: red\nsize: small\n',
    'templates/settings.yaml': settings,
    ...files,
  };
}

function inFolder(chart: Files): Files {
  return Object.fromEntries(Object.entries(chart).map(([path, text]) => [`web/${path}`, text]));
}

async function pushed(name: string, chart: Files, version = 1): Promise<BundleSource> {
  const repository = `e2e/charts/${name}`;
  await pushChart({ registry, repository, tag: `${version}.0.0`, files: inFolder(chart) });
  return anImage(`${registry}/${repository}:${version}.0.0`);
}

interface Wanted {
  readonly name: string;
  readonly source: BundleSource;
  readonly config?: object;
}

async function rollOut({ name, source, config = {} }: Wanted): Promise<void> {
  await kubectl.apply({
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name },
    spec: {
      provisionerClassName: className,
      template: { spec: { provisionerClassName: className, source } },
      config,
    },
  });
}

/** Waits until the present spec is installed and healthy. */
async function isHealthy(name: string): Promise<BundleDeploymentStatus> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const status = deployment['status'] as BundleDeploymentStatus;
    expect(status.observedGeneration).toBe(deployment.metadata.generation);
    const [valid, installed, healthy] = ['HasValidBundle', 'Installed', 'Healthy'].map((type) =>
      conditionOf(deployment, type),
    );
    expect(valid).toMatchObject({ status: 'True', reason: 'UnpackSuccessful' });
    expect(installed).toMatchObject({ status: 'True', reason: 'InstallationSucceeded' });
    expect(healthy).toMatchObject({ status: 'True' });
    return status;
  });
}

async function says(name: string, expected: Partial<Condition>): Promise<void> {
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', name), 'HasValidBundle');
    expect(condition).toMatchObject(expected);
  });
}

async function dataOf(name: string, namespace = systemNamespace): Promise<Files> {
  return (await kubectl.get('configmap', name, namespace))['data'] as Files;
}

describe('rukpakctl diff of a chart', () => {
  test('shows what changes, and takes generated values for the same', async () => {
    await rollOut({ name: 'compared', source: await pushed('compared', aChart()) });
    await isHealthy('compared');
    const folder = await mkdtemp(join(tmpdir(), 'chart-'));
    const compared = async (chart: Files) => {
      for (const [path, text] of Object.entries(chart)) {
        await mkdir(join(folder, path, '..'), { recursive: true });
        await writeFile(join(folder, path), text);
      }
      return await rukpakctl(['diff', folder, 'compared'], { env: { KUBECONFIG: kubeconfig } });
    };
    expect(await compared(aChart())).toMatchObject({
      code: 0,
      stdout: '0 created, 0 changed, 0 pruned, 1 unchanged\n',
    });
    const { code, stdout } = await compared(
      aChart({ 'values.yaml': 'color: blue\nsize: small\n' }, 2),
    );
    expect(code).toBe(1);
    expect(stdout).toContain('-  color: red\n');
    expect(stdout).toContain('+  color: blue\n');
    expect(stdout).not.toContain('+  random');
    await rm(folder, { recursive: true });
  });
});

describe('a chart', () => {
  test('of an OCI registry is installed with its own values, and goes with its deployment', async () => {
    await rollOut({ name: 'oci', source: await pushed('oci', aChart()) });
    const { activeBundle = '' } = await isHealthy('oci');
    const data = await dataOf('oci-settings');
    expect(data).toMatchObject({ color: 'red', size: 'small', namespace: systemNamespace });
    expect(data).toMatchObject({ kube: '1', serves: 'true' });
    const bundle = await kubectl.get('bundle', activeBundle);
    expect(JSON.stringify(bundle['status'])).toContain('/e2e/charts/oci@sha256:');
    await kubectl.deleteNamed('bundledeployment', ['oci']);
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'oci-settings', systemNamespace)).toBe(false);
    }, patiently);
  });

  test('of a file server is installed as it is packed, and with subcharts', async () => {
    const files = await FileServer.start();
    const subchart = {
      'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
      'charts/sub/values.yaml': 'color: none\nsize: none\n',
      'charts/sub/templates/a.yaml': settings.replace('-settings', '-sub'),
    };
    const chart = aChart({
      ...subchart,
      'values.yaml': 'color: red\nsize: small\nsub: {color: blue}\n',
    });
    files.files.set('/web-1.0.0.tgz', await anArchive(inFolder(chart)));
    const source = { type: 'http', http: { url: `${files.url}/web-1.0.0.tgz` } };
    await rollOut({ name: 'http', source });
    await isHealthy('http');
    await files.stop();
    expect(await dataOf('http-settings')).toMatchObject({ color: 'red' });
    expect(await dataOf('http-sub')).toMatchObject({ color: 'blue', size: 'none' });
  });

  test('of a git repository is installed from its folder', async () => {
    const root = await mkdtemp(join(tmpdir(), 'rukpak-helm-'));
    const repository = await TestRepository.create(root, 'charts');
    await repository.commit({ files: inFolder(aChart()), annotatedTag: 'v1.0.0' });
    const server: GitServer = await startGitServer({ root });
    const git = { repository: `${server.url}/charts`, ref: { tag: 'v1.0.0' }, directory: 'web' };
    await rollOut({ name: 'git', source: { type: 'git', git } });
    await isHealthy('git');
    expect(await dataOf('git-settings')).toMatchObject({ color: 'red' });
    await server.close();
    await rm(root, { recursive: true });
  });

  test('of a directory is uploaded and installed by rukpakctl', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-helm-'));
    await mkdir(join(folder, 'web/templates'), { recursive: true });
    for (const [path, text] of Object.entries(inFolder(aChart()))) {
      await writeFile(join(folder, path), text);
    }
    const account = { namespace: 'default', name: 'helm-uploader' };
    const role = ['--clusterrole=cluster-admin', `--serviceaccount=default:${account.name}`];
    await kubectl.must(['create', 'serviceaccount', account.name]);
    await kubectl.must(['create', 'clusterrolebinding', account.name, ...role]);
    const identity = await writeKubeconfig(kubectl, account, folder);
    const classes = ['bundle-deployment', 'bundle'].map(
      (kind) => `--${kind}-provisioner-class=${className}`,
    );
    const flags = [...classes, `--server=${system.contentAddress}`, `--kubeconfig=${identity}`];
    const { stderr, code } = await rukpakctl(['run', 'uploaded', join(folder, 'web'), ...flags]);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    await isHealthy('uploaded');
    expect(await dataOf('uploaded-settings')).toMatchObject({ color: 'red' });
    await kubectl.deleteNamed('serviceaccount', [account.name], { namespace: 'default' });
    await kubectl.deleteNamed('clusterrolebinding', [account.name]);
    await rm(folder, { recursive: true });
  });

  test.each([
    ['no-chart', { 'README.md': 'nothing' }, 'Chart.yaml file is missing'],
    [
      'library',
      { 'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\ntype: library\n' },
      'library charts are not installable: they hold definitions for other charts; install a chart that depends on it',
    ],
  ])('that cannot be installed reports that: %s', async (name, files, message) => {
    await rollOut({ name, source: await pushed(name, files) });
    await says(name, {
      status: 'False',
      reason: 'UnpackFailed',
      message: expect.stringContaining(`: ${message}`),
    });
  });
});

describe('values', () => {
  test('that change render the same Bundle again, as text and as an object', async () => {
    const source = await pushed('values', aChart());
    await rollOut({ name: 'values', source, config: { values: 'color: green\n' } });
    const { activeBundle } = await isHealthy('values');
    const before = await dataOf('values-settings');
    expect(before).toMatchObject({ color: 'green', size: 'small' });
    await rollOut({ name: 'values', source, config: { values: { size: 12345678901234 } } });
    await eventually(async () => {
      const { random } = before;
      expect(await dataOf('values-settings')).toMatchObject({
        color: 'red',
        size: '1.2345678901234e+13',
        random,
      });
    });
    expect((await isHealthy('values')).activeBundle).toBe(activeBundle);
  });

  test('that Helm warns of are told', async () => {
    const name = 'warned';
    const values = 'color: red\nsize: small\nimage: {tag: a}\n';
    const source = await pushed(name, aChart({ 'values.yaml': values }));
    await rollOut({ name, source, config: { values: { image: { tag: { b: 1 } } } } });
    await isHealthy(name);
    await eventually(async () => {
      const selector = `--field-selector=reason=ClassWarning,involvedObject.name=${name}`;
      const told = await kubectl.must(['get', 'events', '--all-namespaces', selector]);
      expect(told).toContain('destination for web.image.tag is a table.');
    });
  });

  test('come from ConfigMaps and Secrets, and follow them', async () => {
    const metadata = { name: 'helm-values', namespace: systemNamespace };
    const configMap = (color: string): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { 'values.yaml': `color: ${color}\nsize: large\n` },
    });
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      stringData: { v: 'size: secret' },
    };
    await kubectl.apply(configMap('black'), secret);
    const valuesFrom = [
      { kind: 'ConfigMap', name: 'helm-values' },
      { kind: 'Secret', name: 'helm-values', valuesKey: 'v' },
      { kind: 'Secret', name: 'helm-none', optional: true },
    ];
    await rollOut({
      name: 'from',
      source: await pushed('from', aChart()),
      config: { valuesFrom },
    });
    await isHealthy('from');
    expect(await dataOf('from-settings')).toMatchObject({ color: 'black', size: 'secret' });
    await kubectl.apply(configMap('white'));
    await eventually(async () => {
      expect(await dataOf('from-settings')).toMatchObject({ color: 'white', size: 'secret' });
    });
    await kubectl.apply({ ...secret, stringData: { v: 'size: [hunter2' } });
    await says('from', {
      status: 'False',
      reason: 'BundleLoadFailed',
      message: expect.stringMatching(
        /^read chart values: key "v" of Secret "helm-values" \(spec.config.valuesFrom\[1\]\)(?:, line \d)?: it is not a YAML map; its content is not shown$/,
      ),
    });
    await kubectl.deleteNamed('configmap,secret', ['helm-values'], { namespace: systemNamespace });
  });

  test.each([
    [{ values: 'a: b: c' }, /^read chart values: error converting YAML to JSON: yaml: line 1: /],
    [
      { vaules: 'color: blue' },
      /^parse deployment config: spec.config.vaules is not known: did you mean values\?$/,
    ],
    [{ values: { color: null } }, /settings\.yaml.*color must be set/s],
  ])('that cannot be used are told: %j', async (config, pattern) => {
    const chart = aChart({
      'templates/settings.yaml': settings.replace(
        '.Values.color',
        '(required "color must be set" .Values.color)',
      ),
    });
    await rollOut({ name: 'wrong', source: await pushed('wrong', chart), config });
    await says('wrong', {
      status: 'False',
      reason: 'BundleLoadFailed',
      message: expect.stringMatching(pattern),
    });
  });
});

describe('what a chart has installed', () => {
  test('is repaired, pruned with an upgrade, and the same after a restart', async () => {
    const more = { 'templates/more.yaml': settings.replace('-settings', '-more') };
    const source = await pushed('life', aChart(more));
    await rollOut({ name: 'life', source, config: { releaseNamespace: 'default' } });
    await isHealthy('life');
    const before = await dataOf('life-settings', 'default');
    expect(before['namespace']).toBe('default');
    const patch = '{"data":{"color":"mine"}}';
    await kubectl.must(['patch', 'configmap', 'life-settings', '--namespace=default', '-p', patch]);
    await kubectl.deleteNamed('configmap', ['life-more'], { namespace: 'default' });
    await eventually(async () => {
      expect(await dataOf('life-settings', 'default')).toEqual(before);
      expect(await kubectl.exists('configmap', 'life-more', 'default')).toBe(true);
    });
    await system.kill();
    await system.restart();
    const next = await pushed('life', aChart({}, 2), 2);
    await rollOut({ name: 'life', source: next, config: { releaseNamespace: 'default' } });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'life-more', 'default')).toBe(false);
    });
    await isHealthy('life');
    expect(await dataOf('life-settings', 'default')).toEqual(before);
  });

  test('keeps its password when a value adds a random function before it, until new values are accepted', async () => {
    const chart = aChart({
      'values.yaml': 'more: false\n',
      'templates/login.yaml':
        'apiVersion: v1\nkind: Secret\nmetadata: {name: drawn-login}\nstringData:\n' +
        '  url: postgres://app:{{ randAlphaNum 12 }}@{{ .Values.host }}\n  date: {{ now | date "2006" | quote }}\n',
      // Helm renders the last template first.
      'templates/settings.yaml': `{{ if .Values.more }}${settings}{{ end }}`,
    });
    const name = 'drawn';
    const source = await pushed(name, chart);
    const login = async () =>
      (await kubectl.get('secret', 'drawn-login', systemNamespace))['data'] as Files;
    const urlOf = async () => Buffer.from((await login())['url'] ?? '', 'base64').toString();
    await rollOut({ name, source, config: { values: { host: 'a' } } });
    await isHealthy(name);
    const before = await urlOf();
    await rollOut({
      name,
      source,
      config: { values: { host: 'b' }, templateTime: '2042-01-01T00:00:00Z' },
    });
    await isHealthy(name);
    expect(await urlOf()).toBe(before.replace('@a', '@b'));
    expect(Buffer.from((await login())['date'] ?? '', 'base64').toString()).toBe('2042');

    await rollOut({ name, source, config: { values: { host: 'b', more: true } } });
    const command = await eventually(async () => {
      const deployment = await kubectl.get('bundledeployment', name);
      const { reason, message = '' } = conditionOf(deployment, 'Progressing') ?? {};
      expect(reason).toBe('GeneratedValuesChanged');
      return /core\.rukpak\.io\/accept-new-seed=[0-9a-f]+$/.exec(message)?.[0] ?? '';
    });
    expect(await urlOf()).toBe(before.replace('@a', '@b'));
    expect(await kubectl.exists('configmap', 'drawn-settings', systemNamespace)).toBe(false);
    await kubectl.must(['annotate', 'bundledeployment', name, command]);
    await eventually(async () => {
      expect(await urlOf()).not.toBe(before.replace('@a', '@b'));
      expect(await kubectl.exists('configmap', 'drawn-settings', systemNamespace)).toBe(true);
    });
    await isHealthy(name);
  });

  test("runs Helm's hooks at their time, and leaves tests alone", async () => {
    const meta = (name: string, hook: string): string =>
      `metadata:\n  name: {{ .Release.Name }}-${name}\n  annotations:\n` +
      `    helm.sh/hook: ${hook}\n    helm.sh/hook-delete-policy: before-hook-creation\n`;
    const pod = 'restartPolicy: Never, containers: [{name: main, image: example.invalid/none}]';
    const chart = aChart({
      'templates/migrate.yaml': `apiVersion: batch/v1\nkind: Job\n${meta('migrate', 'pre-install,pre-rollback')}spec: {template: {spec: {${pod}}}}\n`,
      'templates/told.yaml': `apiVersion: v1\nkind: ConfigMap\n${meta('told', 'post-upgrade')}data: {color: {{ .Values.color }}}\n`,
      'templates/test.yaml': `apiVersion: v1\nkind: Pod\n${meta('test', 'test')}spec: {${pod}}\n`,
    });
    const name = 'hooks';
    const source = await pushed(name, chart);
    await rollOut({ name, source });
    await isHealthy(name);
    const job = await kubectl.get('job', 'hooks-migrate', systemNamespace);
    expect(job['status']).toMatchObject({ succeeded: 1 });
    expect(await kubectl.exists('configmap', 'hooks-told', systemNamespace)).toBe(false);
    await rollOut({ name, source, config: { values: { color: 'blue' } } });
    await eventually(async () => expect(await dataOf('hooks-told')).toEqual({ color: 'blue' }));
    await isHealthy(name);
    const again = await kubectl.get('job', 'hooks-migrate', systemNamespace);
    expect(again.metadata.uid).toBe(job.metadata.uid);
    expect(await kubectl.exists('pod', 'hooks-test', systemNamespace)).toBe(false);
  });

  test('keeps the CRDs of crds/, whatever becomes of the chart', async () => {
    const crd = (description: string): Files => ({
      'crds/gadget.yaml': JSON.stringify(aCRD('Gadget', description)),
    });
    const resource =
      'apiVersion: e2e.example.com/v1\nkind: Gadget\nmetadata: {name: mine}\nspec: {size: 1}\n';
    const name = 'crds';
    const stays = async (): Promise<void> => {
      const { metadata } = await kubectl.get('crd', 'gadgets.e2e.example.com');
      expect(metadata.deletionTimestamp).toBeUndefined();
      expect(metadata.ownerReferences).toBeUndefined();
    };
    const description = async (): Promise<string> =>
      JSON.stringify((await kubectl.get('crd', 'gadgets.e2e.example.com'))['spec']);
    await rollOut({
      name,
      source: await pushed(name, aChart({ ...crd('first'), 'templates/mine.yaml': resource })),
    });
    await isHealthy(name);
    expect(await kubectl.exists('gadgets.e2e.example.com', 'mine', systemNamespace)).toBe(true);
    await rollOut({ name, source: await pushed(name, aChart(crd('second'), 2), 2) });
    await isHealthy(name);
    await eventually(async () => expect(await description()).toContain('second'));
    await rollOut({ name, source: await pushed(name, aChart({}, 3), 3) });
    await isHealthy(name);
    await stays();
    await rollOut({ name, source: await pushed(name, aChart(crd('fourth'), 4), 4) });
    await isHealthy(name);
    await eventually(async () => expect(await description()).toContain('fourth'));
    await kubectl.deleteNamed('bundledeployment', [name]);
    await stays();
    await rollOut({ name, source: await pushed(name, aChart(crd('fifth'), 5), 5) });
    await isHealthy(name);
    expect(await description()).toContain('fifth');
  });
});

test('CRDs of crds/ are upgraded as far as custom resources allow, or as told', async () => {
  const name = 'strict';
  const crd = (required: readonly string[]): Files => {
    const text = JSON.stringify(aCRD('Widget'));
    const spec = `"spec":{"required":${JSON.stringify(required)},"type":"object"`;
    return { 'crds/widget.yaml': text.replace('"spec":{"type":"object"', spec) };
  };
  await rollOut({ name, source: await pushed(name, aChart(crd([]))) });
  await isHealthy(name);
  const { apiVersion, kind } = { apiVersion: 'e2e.example.com/v1', kind: 'Widget' };
  const metadata = { name: 'mine', namespace: 'default' };
  // The API server may serve a new kind a moment after it is established.
  await eventually(() => kubectl.apply({ apiVersion, kind, metadata, spec: {} }));
  const next = await pushed(name, aChart(crd(['size']), 2), 2);
  await rollOut({ name, source: next });
  await eventually(async () => {
    const installed = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
    expect(installed).toMatchObject({ status: 'False', reason: 'UpgradeFailed' });
    expect(installed?.message).toContain('existing custom object default/mine failed validation');
  });
  await rollOut({ name, source: next, config: { crds: 'Replace' } });
  await isHealthy(name);
  await kubectl.deleteNamed('bundledeployment', [name]);
  await kubectl.deleteNamed('crd', ['widgets.e2e.example.com']);
});

test('the session of the howto goes as it says', { tags: 'long' }, async () => {
  const howto = { page: 'helm.md', kubectl, kubeconfig };
  const installed = await followHowto(howto, 'A session');
  expect(installed).toContain('good morning');
  expect(installed).toContain(Buffer.from('open sesame').toString('base64'));
  const told = await followHowto(howto, 'Change values');
  expect(told.match(/shop-\S+\s+configMaps/g)).toHaveLength(1);
  expect(told).toContain(
    'parse deployment config: spec.config.vaules is not known: did you mean values?',
  );
  const ended = await followHowto(howto, 'The end of the session');
  expect(ended).toContain(
    'customresourcedefinition.apiextensions.k8s.io/orders.shop.example.com\n',
  );
});
