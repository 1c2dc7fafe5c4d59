import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  issueCertificateAuthority,
  issueServingCertificate,
} from '../../core/platform/certificates/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import {
  aBundleDeployment,
  aConfigMap,
  aCRD,
  aDeployment,
  anImage,
  aService,
} from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { realBundleDirectory, realBundlesArePresent } from '../helpers/real-bundles.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';
import { smallBundles } from '../helpers/small-bundles.ts';
import { System } from '../helpers/system.ts';

const day = 24 * 3_600_000;
/** As Go's log package begins its lines. */
const stamp = '\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d ';

let kubectl: Kubectl;
let registry: string;
let folder: string;
let system: System;

beforeAll(async () => {
  registry = plane.registry;
  const kubeconfig = plane.kubeconfig;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  folder = await mkdtemp(join(tmpdir(), 'rukpakctl-diagnosis-'));
  system = await System.start({ kubeconfig, registry });
});

afterAll(async () => {
  await system?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(args, { env: { KUBECONFIG: plane.kubeconfig } });
}

/** Installs objects as a BundleDeployment and waits for a state of one of its conditions. */
async function deploy(
  name: string,
  objects: readonly object[],
  [type, status]: readonly [type: string, status: string] = ['Healthy', 'True'],
): Promise<void> {
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name, version: 1, files });
  await kubectl.apply(aBundleDeployment({ name, source }));
  await eventually(async () => {
    const live = await kubectl.get('bundledeployment', name);
    if (conditionOf(live, type)?.status === status) return;
    throw new Error(JSON.stringify(live['status']));
  });
}

async function drop(...names: readonly string[]): Promise<void> {
  await kubectl.deleteNamed('bundledeployment', names);
}

async function aDirectory(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  return directory;
}

function aSecret(name: string, stringData: Readonly<Record<string, string>>): object {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData };
}

/** A Deployment that no node can run. */
function aHomelessDeployment(name: string): object {
  const deployment = aDeployment(name) as {
    readonly spec: { readonly template: { readonly spec: object } };
  };
  const { spec } = deployment;
  const pod = { ...spec.template.spec, nodeSelector: { 'example.com/none': 'none' } };
  return { ...deployment, spec: { ...spec, template: { ...spec.template, spec: pod } } };
}

describe('rukpakctl status', () => {
  test('shows a deployment, its Bundle and its objects', async () => {
    await deploy('st-good', [aConfigMap('st-good'), aDeployment('st-good'), aService('st-good')]);
    const { code, stdout, stderr } = await ctl('status', 'st-good', '--exit-code');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [bundle] = await kubectl.list('bundles', 'core.rukpak.io/owner-name=st-good');
    const name = bundle?.metadata.name ?? '';
    expect(stdout.replaceAll(/ {2,}/g, '  ').replace(/sha256:\w+/, 'sha256:…')).toBe(
      [
        'BundleDeployment/st-good  Healthy  class core-rukpak-io-plain',
        '|-- conditions',
        `|  |-- HasValidBundle  True  UnpackSuccessful  Successfully unpacked the ${name} Bundle`,
        `|  |-- Installed  True  InstallationSucceeded  Instantiated bundle ${name} successfully`,
        '|  |-- Healthy  True  Healthy  BundleDeployment is healthy',
        `|  \`-- Ready  True  Healthy  Bundle ${name} is installed and healthy`,
        '|-- Bundles',
        `|  \`-- ${name}  active  Unpacked  image ${registry}/e2e/st-good:v1 -> image ${registry}/e2e/st-good@sha256:…`,
        '`-- objects: 3 of 3 healthy',
        '  |-- ConfigMap/default/st-good  Current  Resource is always ready',
        '  |-- Service/default/st-good  Current  Service is ready',
        '  `-- Deployment/default/st-good  Current  Deployment is available. Replicas: 1\n',
      ].join('\n'),
    );
    const json = JSON.parse((await ctl('status', 'st-good', '--output=json')).stdout);
    expect(json).toMatchObject({
      name: 'st-good',
      state: 'Healthy',
      activeBundle: name,
      bundles: [{ name, role: 'active', phase: 'Unpacked' }],
      objects: { total: 3, healthy: 3 },
    });
    expect(json).not.toHaveProperty('next');
    await drop('st-good');
  });

  test('says which object is not healthy, and where to look', async () => {
    await deploy('st-sick', [aHomelessDeployment('st-sick')], ['Healthy', 'False']);
    const { code, stdout } = await ctl('status', 'st-sick', '--exit-code');
    expect(code).toBe(1);
    expect(stdout).toContain('BundleDeployment/st-sick  Unhealthy  ');
    expect(stdout).toMatch(/`-- Deployment\/default\/st-sick {2}InProgress {2}/);
    expect(stdout).toContain(
      'Next: look at Deployment "st-sick": kubectl describe deployment.apps st-sick --namespace default\n',
    );
    expect((await ctl('status', 'st-sick')).code).toBe(0);
    await drop('st-sick');
  });

  test('reports what a Bundle waits for, and a class without a manager', async () => {
    const lost = `${registry}/e2e/st-lost:v1`;
    await kubectl.apply(aBundleDeployment({ name: 'st-lost', source: anImage(lost) }), {
      ...(aBundleDeployment({ name: 'st-nobody', source: anImage(lost) }) as KubernetesObject),
      spec: {
        provisionerClassName: 'nobody',
        template: { spec: { provisionerClassName: 'nobody', source: anImage(lost) } },
      },
    });
    await eventually(async () => {
      const { stdout } = await ctl('status', 'st-lost');
      expect(stdout).toMatch(/ next {2}Pending {2}image .*: Back-off pulling image /);
      expect(stdout).toContain('Next: push e2e/st-lost:v1, which core then finds by itself');
    });
    await eventually(async () => {
      const { stdout } = await ctl('status', 'st-nobody');
      expect(stdout).toContain('BundleDeployment/st-nobody  NotObserved  class nobody\n');
      expect(stdout).toMatch(
        /^Next: (?:no manager has reconciled it for \d+s: is a manager running that serves class "nobody" |correct spec\.provisionerClassName of BundleDeployment "st-nobody" \(core serves )/m,
      );
    });
    const { code, stdout } = await ctl('status', '--exit-code');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^NAME +STATE +ACTIVE BUNDLE +REASON\n/);
    expect(stdout).toMatch(/^st-lost +NotInstalled +- +UnpackPending: /m);
    expect(stdout).toMatch(
      /^st-nobody +NotObserved +- +no manager of class "nobody" has reconciled it yet$/m,
    );
    await drop('st-lost', 'st-nobody');
  });

  test('says that there is no such deployment', async () => {
    const { code, stderr } = await ctl('status', 'st-none');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^${stamp}bundledeployments.core.rukpak.io "st-none" not found\n$`),
    );
  });
});

describe('a deployment from its Pods to its end', () => {
  test('is shown down to them, traced from them, exported, uninstalled and made again', async () => {
    const kept = aConfigMap('life-kept') as KubernetesObject;
    const annotations = { 'core.rukpak.io/keep': 'true' };
    const keeps = { ...kept, metadata: { ...kept.metadata, annotations } };
    await deploy('life', [aDeployment('life'), keeps]);
    const tree = (await ctl('tree', 'life')).stdout;
    const pod = /Pod\/default\/(life-[\w-]+) {2}Running/.exec(tree)?.[1] ?? tree;
    expect(tree).toMatch(/^ {4}`-- ReplicaSet\/default\/life-\w+ {2}Current/m);
    const traced = await ctl('trace', `po/${pod}`);
    expect(traced).toMatchObject({ code: 0, stderr: '' });
    expect(traced.stdout).toMatch(
      /^BundleDeployment\/life {2}Healthy\n`-- Deployment\/default\/life /,
    );
    const events = (await ctl('events', 'life')).stdout;
    expect(events).toMatch(/ Normal +\w+ +BundleDeployment\/life /);
    expect(events).toMatch(/ ReplicaSet\/life-\w+ /);
    const forbidden = await ctl('tree', 'life', '--as=nobody');
    expect(forbidden.code).toBe(1);
    expect(forbidden.stderr).toContain('User "nobody" cannot get resource "bundledeployments"');
    const manifest = join(folder, 'life.yaml');
    await writeFile(manifest, (await ctl('export', 'life')).stdout);
    const { uid } = (await kubectl.get('bundledeployment', 'life')).metadata;
    expect((await ctl('uninstall', 'life', '--dry-run')).code).toBe(0);
    const { metadata } = await kubectl.get('bundledeployment', 'life');
    expect(metadata).toMatchObject({ uid });
    expect(metadata).not.toHaveProperty('deletionTimestamp');
    const gone = await ctl('uninstall', 'life', '--yes');
    expect(gone).toMatchObject({ code: 0, stderr: '' });
    expect(gone.stdout).toContain(
      '  Deployment/default/life\nThese stay:\n  ConfigMap/default/life-kept (',
    );
    expect(gone.stdout).toMatch(/\nbundledeployment.core.rukpak.io "life" deleted\n$/);
    expect(await kubectl.exists('deployment', 'life', 'default')).toBe(false);
    expect(await kubectl.exists('configmap', 'life-kept', 'default')).toBe(true);
    await kubectl.must(['apply', '--filename', manifest]);
    expect((await ctl('reconcile', 'life', '--wait')).code).toBe(0);
    expect(await kubectl.exists('deployment', 'life', 'default')).toBe(true);
    await drop('life');
    await kubectl.deleteNamed('configmap', ['life-kept'], { namespace: 'default' });
  });

  test('is tried again at once when that is asked for', async () => {
    // The registry of a kept control plane has what an earlier run pushed.
    const repository = `life-${randomUUID().slice(0, 8)}`;
    const source = anImage(`${registry}/e2e/${repository}:v1`);
    await kubectl.apply(aBundleDeployment({ name: 'life-late', source }));
    await eventually(async () => {
      expect((await ctl('status', 'life-late')).stdout).toContain('Back-off pulling image');
    });
    const files = plainFiles([aConfigMap('life-late')]);
    await pushContent({ registry, name: repository, version: 1, files });
    const { code, stdout } = await ctl('reconcile', 'life-late', '--wait');
    expect(code).toBe(0);
    expect(stdout).toContain('bundledeployment.core.rukpak.io "life-late" is installed\n');
    await drop('life-late');
  });

  test('warns of custom resources, as the webhook does', async () => {
    await deploy('life-crd', [aCRD('LifeThing')]);
    const thing = {
      apiVersion: 'e2e.example.com/v1',
      kind: 'LifeThing',
      metadata: { name: 'x', namespace: 'default' },
    };
    await eventually(async () => await kubectl.apply(thing));
    const { code, stdout, stderr } = await ctl('uninstall', 'life-crd', '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain(
      '  CustomResourceDefinition/lifethings.e2e.example.com (with its custom resources',
    );
    expect(stderr).toMatch(
      /^Warning: Deleting BundleDeployment life-crd deletes CRD .* 1 LifeThing in 1 namespace\n$/,
    );
    await drop('life-crd');
  });
});

describe('rukpakctl diff', () => {
  const [kind, name] = ['Diffed', 'di-demo'];
  const custom = {
    apiVersion: 'e2e.example.com/v1',
    kind,
    metadata: { name, namespace: 'default' },
    spec: { size: 1 },
  };
  const v1 = [
    aConfigMap('di-changed', { a: '1', b: '2' }),
    aConfigMap('di-gone', { a: '1' }),
    aConfigMap('di-same', { a: '1' }),
    aSecret('di-secret', { same: 'topsecret-1', changed: 'topsecret-2' }),
  ];
  const v2 = [
    aConfigMap('di-changed', { a: '1', b: '3' }),
    aConfigMap('di-same', { a: '1' }),
    aSecret('di-secret', { same: 'topsecret-1', changed: 'topsecret-3', made: 'topsecret-4' }),
    aCRD(kind),
    custom,
  ];

  beforeAll(async () => await deploy(name, v1));
  afterAll(async () => await drop(name));

  async function everything(): Promise<readonly unknown[]> {
    const kinds = 'configmaps,secrets,bundledeployments,bundles';
    const objects = await kubectl.list(kinds, `core.rukpak.io/owner-name=${name}`);
    const owner = await kubectl.get('bundledeployment', name);
    return [...objects, owner].map(({ metadata }) => [metadata.uid, metadata.resourceVersion]);
  }

  test('shows objects to create, change and delete, and changes nothing', async () => {
    const before = await everything();
    const directory = await aDirectory('v2', plainFiles(v2));
    const { code, stdout, stderr } = await ctl('diff', directory, name);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain(
      '--- live/ConfigMap/default/di-changed\n+++ upgrade/ConfigMap/default/di-changed\n',
    );
    expect(stdout).toContain('   a: "1"\n-  b: "2"\n+  b: "3"\n');
    expect(stdout).toContain('--- live/ConfigMap/default/di-gone\n+++ /dev/null\n');
    expect(stdout).toContain(`--- /dev/null\n+++ upgrade/${kind}/default/${name}\n`);
    expect(stdout).toContain(
      '-  changed: "*** (before)"\n+  changed: "*** (after)"\n+  made: "***"\n   same: "***"\n',
    );
    expect(stdout).not.toContain('topsecret');
    expect(stdout).not.toContain('di-same');
    expect(stdout).toMatch(/\n2 created, 2 changed, 1 pruned, 1 unchanged\n$/);
    expect(await everything()).toEqual(before);
    expect(await kubectl.exists('crd', 'diffeds.e2e.example.com')).toBe(false);
  });

  test('prints the changes for scripts, and nothing where there are none', async () => {
    const directory = await aDirectory('v1', plainFiles(v1));
    const same = await ctl('diff', directory, name);
    expect(same).toEqual({
      code: 0,
      stdout: '0 created, 0 changed, 0 pruned, 4 unchanged\n',
      stderr: '',
    });
    const fewer = await aDirectory('fewer', plainFiles(v1.slice(1)));
    const { code, stdout } = await ctl('diff', fewer, name, '--output=json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      bundleDeployment: name,
      changes: [{ action: 'prune', kind: 'ConfigMap', namespace: 'default', name: 'di-changed' }],
      unchanged: 3,
      problems: [],
    });
  });

  test('names objects of somebody else, and fails as the upgrade would', async () => {
    await kubectl.apply(aConfigMap('di-theirs'));
    const more = [...v1, aConfigMap('di-theirs', { a: 'ours' })];
    const directory = await aDirectory('theirs', plainFiles(more));
    const { code, stderr } = await ctl('diff', directory, name);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      new RegExp(
        `^${stamp}ConfigMap "di-theirs" in namespace "default" exists and has no owner, so the upgrade would be refused: `,
      ),
    );
    await kubectl.deleteNamed('configmap', ['di-theirs'], { namespace: 'default' });
  });

  test('shows an adopted object, a new namespace, and a field that nobody knows', async () => {
    const owner = await kubectl.get('namespace', 'default');
    const controller = { apiVersion: 'v1', kind: 'Namespace', controller: true };
    const { uid, name: ownerName } = owner.metadata;
    const adopted = aConfigMap('di-adopted', { a: '1' }) as { readonly metadata: object };
    const ownerReferences = [{ ...controller, name: ownerName, uid }];
    await kubectl.apply({ ...adopted, metadata: { ...adopted.metadata, ownerReferences } });
    const adopt = 'core.rukpak.io/adopt=ConfigMap/default/di-adopted';
    await kubectl.must(['annotate', 'bundledeployment', name, adopt]);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'di-new' } };
    const inside = { ...adopted, metadata: { name: 'di-inside', namespace: 'di-new' } };
    const service = aService('di-service') as { readonly spec: object };
    const odd = { ...service, spec: { ...service.spec, oddity: true } };
    const directory = await aDirectory('odd', plainFiles([...v1, adopted, namespace, inside, odd]));
    const { code, stdout, stderr } = await ctl('diff', directory, name);
    expect(code).toBe(1);
    expect(stdout).toContain('-    name: default\n');
    expect(stdout).toContain('+++ upgrade/ConfigMap/di-new/di-inside\n');
    expect(stdout).toMatch(/\n3 created, 1 changed, 0 pruned, 4 unchanged\n$/);
    expect(stderr).toMatch(
      new RegExp(
        `^${stamp}warning: Service "di-service" .* without unknown fields .*spec\\.oddity\n$`,
      ),
    );
    const live = await kubectl.get('configmap', 'di-adopted', 'default');
    expect(live.metadata.ownerReferences).toEqual(ownerReferences);
    await kubectl.deleteNamed('configmap', ['di-adopted'], { namespace: 'default' });
  });

  test('fails with 2, never with what means a difference', async () => {
    const directory = await aDirectory('v1', plainFiles(v1));
    expect(await ctl('diff', directory, 'di-none')).toMatchObject({ code: 2, stdout: '' });
    expect(await ctl('diff', directory)).toMatchObject({ code: 2, stdout: '' });
    expect((await ctl('diff', join(folder, 'none'), name)).code).toBe(2);
    const foreign = aBundleDeployment({ name: 'di-other', source: anImage('example.invalid/x:1') });
    const { spec, ...rest } = foreign as KubernetesObject & { readonly spec: object };
    await kubectl.apply({ ...rest, spec: { ...spec, provisionerClassName: 'other' } });
    const { code, stderr } = await ctl('diff', directory, 'di-other');
    expect(code).toBe(2);
    expect(stderr).toContain('BundleDeployment "di-other" is of class "other": only what class ');
    await drop('di-other');
  });
});

/** Directories of bundles, and what is said of each. */
interface Judgements {
  readonly good: readonly [directory: string, objects: number];
  /** Other tools find errors in it, and it can be installed. */
  readonly faulty: readonly [directory: string, firstError: RegExp, objects: number];
  /** It has a CRD of v1beta1, and does not support all namespaces. */
  readonly refused: readonly [directory: string, crd: string];
}

async function expectJudgements({ good, faulty, refused }: Judgements): Promise<void> {
  expect(await ctl('validate', good[0])).toMatchObject({
    code: 0,
    stdout: `valid as core-rukpak-io-registry: ${good[1]} objects, 0 warnings\n`,
  });
  const { code, stdout } = await ctl('validate', faulty[0]);
  expect(code).toBe(1);
  expect(stdout).toMatch(faulty[1]);
  expect(stdout).toContain(`all the same it can be installed (${faulty[2]} objects)`);
  const bad = await ctl('validate', refused[0]);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain('AllNamespace install mode must be enabled, or the Bundle');
  expect(bad.stdout).toContain(`${refused[1]} is of apiextensions.k8s.io/v1beta1`);
}

describe('rukpakctl validate', () => {
  test('accepts a good directory', async () => {
    const directory = await aDirectory('good', plainFiles([aConfigMap('va-good')]));
    expect(await ctl('validate', directory)).toEqual({
      code: 0,
      stdout: 'valid as core-rukpak-io-plain: 1 object, 0 warnings\n',
      stderr: '',
    });
  });

  test('names everything that is wrong with a bad one', async () => {
    const directory = await aDirectory('bad', {
      'manifests/a.yaml': 'apiVersion: v1\nkind: [\n',
      'manifests/b.yaml': 'metadata: {name: x}\n',
      'manifests/deep/c.yaml': 'kind: Secret\n',
    });
    const { code, stdout } = await ctl('validate', directory);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^error: manifests\/a\.yaml:\d+: .*\nerror: manifests\/b\.yaml: .*\nerror: manifests\/deep: .*\nnot valid as core-rukpak-io-plain: 3 errors, 0 warnings\n$/,
    );
    const json = JSON.parse((await ctl('validate', directory, '--output=json')).stdout);
    expect(json).toMatchObject({
      valid: false,
      errors: 3,
      problems: [{ file: 'manifests/a.yaml' }, {}, {}],
    });
  });

  test('judges small operators', async () => {
    const directory = (name: string) => {
      return smallBundles.find((bundle) => bundle.name === name)?.directory(folder) ?? '';
    };
    await expectJudgements({
      good: [directory('small-operator/1.0.0'), 8],
      faulty: [
        directory('small-webhooks/1.0.0'),
        /^error: manifests\/widgets\.yaml:\d+: \[bundle\] CRD "widgets\.e2e\.example\.com\/v1, Kind=Widget" is present /,
        11,
      ],
      refused: [directory('small-former/1.0.0'), 'relics.former.example.com'],
    });
  });

  test.runIf(realBundlesArePresent())('judges operators as they were published', async () => {
    await expectJudgements({
      good: [realBundleDirectory('vault-config-operator/0.8.52'), 149],
      faulty: [
        realBundleDirectory('kuadrant-operator/0.4.0'),
        /^error: manifests\/\S+:482: \[bundle\] relatedImages\[0\] has an invalid image pullspec /,
        13,
      ],
      refused: [
        realBundleDirectory('group-sync-operator/0.0.11'),
        'groupsyncs.redhatcop.redhat.io',
      ],
    });
  });
});

describe('rukpakctl verify', () => {
  const configuration = 'rukpak-validating-webhook-configuration';

  async function verify(): Promise<CtlResult> {
    return await ctl('verify', `--server=${system.contentAddress}`);
  }

  test('finds an installation outside the cluster healthy', async () => {
    await eventually(async () => {
      const { code, stdout, stderr } = await verify();
      if (code !== 0 || stderr !== '') throw new Error(`${stdout}${stderr}`);
      expect(stdout).toMatch(/, 0 warnings, 0 failed, /);
      expect(stdout).toContain(
        'skipped  Deployment rukpak-system/core: no Deployment core in namespace rukpak-system\n',
      );
      expect(stdout).toContain(
        'ok       webhook vbundles.core.rukpak.io: answers, and refuses a bad Bundle\n',
      );
      expect(stdout).toContain(
        'ok       content server: answers, and asks strangers who they are\n',
      );
    });
    const json = JSON.parse((await ctl('verify', '--output=json')).stdout);
    expect(json).toMatchObject({ healthy: true, failed: 0, checks: expect.any(Array) });
  });

  test('notices that a webhook configuration is gone', async () => {
    const live = await kubectl.get('validatingwebhookconfiguration', configuration);
    await kubectl.deleteNamed('validatingwebhookconfiguration', [configuration]);
    await eventually(async () => {
      const { code, stdout } = await verify();
      expect(code).toBe(1);
      expect(stdout).toContain(
        `failed   ValidatingWebhookConfiguration ${configuration}: is missing: nothing is checked at admission; run "rukpak install"`,
      );
      expect(stdout).toContain('failed   webhook vbundles.core.rukpak.io: is not asked');
    });
    const {
      resourceVersion: _,
      uid: __,
      managedFields: ___,
      ...metadata
    } = live.metadata as {
      resourceVersion: string;
      uid: string;
      managedFields: unknown;
    };
    await kubectl.apply({ ...live, metadata });
    await eventually(async () => expect(await verify()).toMatchObject({ code: 0 }));
  });

  test('notices certificates that have ended, or are signed by others', async () => {
    const namespace = 'rukpak-system';
    const now = Date.now();
    const validity = { notBefore: now - 2 * day, notAfter: now + 20 * day };
    const [authority, stranger] = [
      await issueCertificateAuthority(validity),
      await issueCertificateAuthority(validity),
    ];
    const hosts = [`core.${namespace}.svc`];
    const put = async (signer: typeof authority, notAfter: number): Promise<void> => {
      const pair = await issueServingCertificate(signer, hosts, { ...validity, notAfter });
      await kubectl.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'core-cert', namespace },
        stringData: { 'tls.crt': pair.certificate, 'ca.crt': authority.certificate },
      });
    };
    const subject = `failed   Secret ${namespace}/core-cert: `;
    await put(stranger, validity.notAfter);
    const foreign = await verify();
    expect(foreign.code).toBe(1);
    expect(foreign.stdout).toContain(`${subject}is signed by none of the authorities`);
    await put(authority, now - day);
    expect((await verify()).stdout).toContain(`${subject}expired at `);
    await put(authority, validity.notAfter);
    await eventually(async () => expect(await verify()).toMatchObject({ code: 0 }));
    await kubectl.deleteNamed('secret', ['core-cert'], { namespace });
  });
});
