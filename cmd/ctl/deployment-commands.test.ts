import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { deploymentApplySetID } from '../../core/apply/index.ts';
import { trackingID } from '../../core/apply/objects/owner-marks.ts';
import type { Resource } from '../../core/platform/kube/index.ts';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { type CtlResult, rukpakctl, spawnRukpakctl } from '../../test/helpers/rukpakctl.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { templateBundle } from './status/deployment-state.ts';

const apps = { group: 'apps', version: 'v1', namespaced: true } as const;
const deployments: Resource = { ...apps, kind: 'Deployment', plural: 'deployments' };
const replicaSets: Resource = { ...apps, kind: 'ReplicaSet', plural: 'replicasets' };
const core = { group: '', version: 'v1', namespaced: true } as const;
const pods: Resource = { ...core, kind: 'Pod', plural: 'pods' };
const configMaps: Resource = { ...core, kind: 'ConfigMap', plural: 'configmaps' };
const events: Resource = { ...core, kind: 'Event', plural: 'events' };
/** The names to find, none of which exists. */
const others: readonly Resource[] = [
  { ...apps, kind: 'StatefulSet', plural: 'statefulsets' },
  { ...apps, kind: 'DaemonSet', plural: 'daemonsets' },
  { ...apps, group: 'batch', kind: 'Job', plural: 'jobs' },
  { ...apps, group: 'batch', kind: 'CronJob', plural: 'cronjobs' },
];

const web = aWeb();
const bundle = templateBundle(web);
let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

beforeEach(() => {
  api.reset();
  api.serve(...others, configMaps, pods, replicaSets, deployments, events);
  api.answer('/apis/core.rukpak.io/v1alpha1', () => ({}));
  api.put(bundleDeploymentResource, web);
  api.put(
    bundleResource,
    anObjectOf(bundleResource, bundle, {
      metadata: {
        labels: {
          [label.ownerKind]: 'BundleDeployment',
          [label.ownerName]: 'web',
          [label.templateHash]: 'x',
        },
      },
      spec: web.spec.template.spec,
      status: { phase: 'Unpacked' },
    }),
  );
  api.put(deployments, owned(deployments, 'web', { spec: { replicas: 1 } }));
  api.put(
    configMaps,
    owned(configMaps, 'notes', { metadata: { annotations: { [annotation.keep]: 'true' } } }),
  );
  api.put(replicaSets, madeFor('deployment-web', 'Deployment', anObjectOf(replicaSets, 'web-7d4')));
  const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
  const status = {
    phase: 'Pending',
    containerStatuses: [{ name: 'app', ready: false, restartCount: 0, state: { waiting } }],
  };
  const pod = anObjectOf(pods, 'web-7d4-x2', { status });
  api.put(pods, madeFor('replicaset-web-7d4', 'ReplicaSet', pod));
  api.put(pods, anObjectOf(pods, 'stranger', { status: { phase: 'Running' } }));
});

afterAll(async () => {
  await api.stop();
});

function aWeb(): BundleDeployment {
  return aStoredDeployment({
    name: 'web',
    className: 'core-rukpak-io-plain',
    metadata: {
      labels: { team: 'shop', 'applyset.kubernetes.io/id': deploymentApplySetID('web') },
      annotations: {
        'applyset.kubernetes.io/contains-group-kinds': 'ConfigMap,Deployment.apps',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        [annotation.changedBy]: 'somebody',
        [annotation.adopt]: '*',
      },
    },
    status: { observedGeneration: 1, conditions: [] },
  });
}

function owned(
  resource: Resource,
  name: string,
  fields: { readonly metadata?: object; readonly spec?: object } = {},
): KubernetesObject {
  const object = anObjectOf(resource, name, fields);
  const key = { namespace: 'default', name };
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: 'web' },
      annotations: {
        ...object.metadata.annotations,
        [annotation.trackingID]: trackingID('uid-of-web', resource, key),
      },
    },
  };
}

/** As everybody may make it who may create Bundles. */
function aLabelledBundle(name: string, metadata: object = {}): KubernetesObject {
  const labels = {
    [label.ownerKind]: 'BundleDeployment',
    [label.ownerName]: 'web',
    [label.templateHash]: 'x',
  };
  const spec = web.spec.template.spec;
  return anObjectOf(bundleResource, name, { metadata: { labels, ...metadata }, spec });
}

function madeFor(uid: string, kind: string, object: KubernetesObject): KubernetesObject {
  const name = uid.slice(kind.length + 1);
  const owner = { apiVersion: 'apps/v1', kind, name, uid, controller: true };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
}

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(args, { env: { KUBECONFIG: api.kubeconfig } });
}

describe('rukpakctl tree', () => {
  test('goes down to the Pods, and says why one does not run', async () => {
    const { code, stdout, stderr } = await ctl('tree', 'web');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.replaceAll(/ {2,}/g, '  ')).toBe(
      [
        'BundleDeployment/web  NotInstalled',
        `|-- Bundle/${bundle}  Unpacked  next, image example.com/app:v1`,
        '|-- ConfigMap/default/notes  Current  Resource is always ready',
        '`-- Deployment/default/web  InProgress  Replicas: 0/1',
        '  `-- ReplicaSet/default/web-7d4  InProgress  Labelled: 0/1',
        '  `-- Pod/default/web-7d4-x2  Pending  container app: ImagePullBackOff: no such image\n',
      ].join('\n'),
    );
  });

  test('of another namespace it says that there is nothing', async () => {
    const { stdout } = await ctl('tree', 'web', '-n', 'elsewhere');
    expect(stdout).toContain('it has no objects in namespace "elsewhere"\n');
    const { stdout: json } = await ctl('tree', 'web', '-o', 'json');
    expect(JSON.parse(json)).toMatchObject({
      bundleDeployment: 'web',
      objects: [{ name: 'notes' }, { name: 'web', made: [{ made: [{ name: 'web-7d4-x2' }] }] }],
    });
  });
});

test('rukpakctl status lists no Bundle that only has the labels of the deployment', async () => {
  api.put(bundleResource, aLabelledBundle('made-by-others'));
  const of = { kind: 'BundleDeployment', name: 'web', controller: true };
  const owned = (uid: string) => ({ ownerReferences: [{ ...of, uid }] });
  api.put(bundleResource, aLabelledBundle('former', owned('uid-of-web')));
  api.put(bundleResource, aLabelledBundle('of-one-before', owned('uid-of-another')));
  const { stdout } = await ctl('status', 'web', '-o', 'json');
  const { bundles } = JSON.parse(stdout) as { bundles: readonly { name: string }[] };
  // One that the template asks for may stand in the way.
  expect(bundles.map(({ name }) => name)).toEqual([bundle, 'former']);
});

describe('rukpakctl trace', () => {
  test.each(['pod', 'pods', 'Pod'])('names the deployment of a %s', async (kind) => {
    const { code, stdout } = await ctl('trace', `${kind}/web-7d4-x2`);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.trim().split('  ')[0])).toEqual([
      'BundleDeployment/web',
      '`-- Deployment/default/web',
      '`-- ReplicaSet/default/web-7d4',
      '`-- Pod/default/web-7d4-x2',
      '',
    ]);
  });

  test.each([
    [
      'pod/stranger',
      'Pod/default/stranger belongs to no BundleDeployment: Pod/default/stranger has no owner reference and no label core.rukpak.io/owner-name',
    ],
    ['pod/gone', 'not found'],
    ['gizmo/x', 'the cluster serves no kind "gizmo"'],
    ['pod', 'It must be KIND/NAME'],
  ])('%s is an error of one sentence', async (word, message) => {
    const { code, stdout, stderr } = await ctl('trace', word);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('rukpakctl events', () => {
  test('has those of the deployment, its objects and their Pods, the oldest first', async () => {
    anEvent(
      'late',
      { uid: 'uid-of-web', kind: 'BundleDeployment', name: 'web' },
      '2030-01-01T00:02:00Z',
    );
    anEvent(
      'early',
      { uid: 'pod-web-7d4-x2', kind: 'Pod', name: 'web-7d4-x2' },
      '2030-01-01T00:01:00Z',
    );
    anEvent(
      'other',
      { uid: 'pod-stranger', kind: 'Pod', name: 'stranger' },
      '2030-01-01T00:01:00Z',
    );
    const { stdout } = await ctl('events', 'web', '--output=json');
    const found = JSON.parse(stdout) as { events: readonly { reason: string }[] };
    expect(found.events.map(({ reason }) => reason)).toEqual(['early', 'late']);
    const [heading, row] = (await ctl('events', 'web')).stdout.split('\n');
    expect(heading).toMatch(/^LAST SEEN {2}TYPE +REASON +OBJECT +MESSAGE$/);
    expect(row).toContain('Pod/web-7d4-x2');
  });

  test('says that there are none', async () => {
    expect((await ctl('events', 'web')).stdout).toContain('there are no Events of "web"');
  });

  function anEvent(reason: string, regarding: object, lastTimestamp: string): void {
    const fields = {
      involvedObject: { namespace: 'default', ...regarding },
      reason,
      type: 'Normal',
    };
    api.put(events, anObjectOf(events, reason, { ...fields, lastTimestamp, message: 'm' }));
  }
});

describe('rukpakctl reconcile', () => {
  test('asks for the deployment and the Bundle of its template', async () => {
    const { code, stdout } = await ctl('reconcile', 'web');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'bundledeployment.core.rukpak.io "web" reconciliation requested\n',
    });
    const asked = [api.get(bundleDeploymentResource, 'web'), api.get(bundleResource, bundle)];
    const times = asked.map(
      (object) => object?.metadata.annotations?.[annotation.reconcileRequestedAt],
    );
    expect(times[0]).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(times[1]).toBe(times[0]);
  });

  const path = '/apis/core.rukpak.io/v1alpha1/bundledeployments/web';
  const requested = ({ body }: { readonly body: string }): string =>
    JSON.parse(body).metadata.annotations[annotation.reconcileRequestedAt];

  test('with --wait it fails with the state that it stays in', async () => {
    let lastHandledReconcileAt = '';
    api.answer(path, (request) => {
      if (request.method === 'PATCH') lastHandledReconcileAt = requested(request);
      return { ...web, status: { ...web.status, lastHandledReconcileAt } };
    });
    const { code, stderr } = await ctl('reconcile', 'web', '--wait', '--timeout=1ms');
    expect(code).toBe(1);
    expect(stderr).toContain('BundleDeployment "web" is NotInstalled after 0.001 s');
  });

  test('with --wait a good state of before does not count', async () => {
    const condition = { type: 'Installed', status: 'True', reason: 'r', message: '' } as const;
    const good = { ...web.status, activeBundle: bundle, conditions: [condition] };
    let [asked, looks] = ['', 0];
    api.answer(path, (request) => {
      if (request.method === 'PATCH') asked = requested(request);
      else looks += 1;
      const lastHandledReconcileAt = looks < 3 ? 'another time' : asked;
      return { ...web, status: { ...good, lastHandledReconcileAt } };
    });
    const late = await ctl('reconcile', 'web', '--wait', '--timeout=1ms');
    expect(late.code).toBe(1);
    expect(late.stderr).toContain(
      'core has not reconciled BundleDeployment "web" in 0.001 s: is it running, and does it serve the class?',
    );
    looks = 0;
    const { code, stdout } = await ctl('reconcile', 'web', '--wait');
    expect({ code, looks }).toEqual({ code: 0, looks: 3 });
    expect(stdout).toContain('"web" is installed');
  });

  test('with --wait a later request that has replaced this one counts too', async () => {
    const condition = { type: 'Installed', status: 'True', reason: 'r', message: '' } as const;
    const good = { ...web.status, activeBundle: bundle, conditions: [condition] };
    let [latest, looks] = ['', 0];
    api.answer(path, (request) => {
      if (request.method === 'PATCH') latest = requested(request);
      else looks += 1;
      if (looks > 0) latest = 'of another user';
      const lastHandledReconcileAt = looks < 3 ? 'before' : latest;
      const annotations = { [annotation.reconcileRequestedAt]: latest };
      const metadata = { ...web.metadata, annotations };
      return { ...web, metadata, status: { ...good, lastHandledReconcileAt } };
    });
    const { code, stderr } = await ctl('reconcile', 'web', '--wait');
    expect({ code, looks, stderr }).toEqual({ code: 0, looks: 3, stderr: '' });
  });

  test('with --wait an earlier request that a client sets again does not count', async () => {
    const condition = { type: 'Installed', status: 'True', reason: 'r', message: '' } as const;
    const good = { ...web.status, activeBundle: bundle, conditions: [condition] };
    api.answer(path, () => {
      const annotations = { [annotation.reconcileRequestedAt]: 'of git' };
      const metadata = { ...web.metadata, annotations };
      return { ...web, metadata, status: { ...good, lastHandledReconcileAt: 'of git' } };
    });
    const { code, stderr } = await ctl('reconcile', 'web', '--wait', '--timeout=1ms');
    expect(code).toBe(1);
    expect(stderr).toContain('core has not reconciled BundleDeployment "web" in 0.001 s');
  });
});

test('rukpakctl export leaves out what others have noted', async () => {
  const { stdout, stderr } = await ctl('export', 'web');
  expect(stderr).toBe('');
  expect(stdout).toBe(
    [
      '---',
      'apiVersion: core.rukpak.io/v1alpha1',
      'kind: BundleDeployment',
      'metadata:',
      '  name: web',
      '  labels:',
      '    team: shop',
      '  annotations:',
      '    core.rukpak.io/adopt: "*"',
      'spec:',
      '  provisionerClassName: core-rukpak-io-plain',
      '  template:',
      '    spec:',
      '      provisionerClassName: plain',
      '      source:',
      '        type: image',
      '        image:',
      '          ref: example.com/app:v1',
      '',
    ].join('\n'),
  );
  const list = JSON.parse((await ctl('export', '-o', 'json')).stdout) as { items: unknown[] };
  expect(list.items).toHaveLength(1);
});

test('rukpakctl export warns of a deployment that is being deleted', async () => {
  const metadata = { ...web.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  api.answer('/apis/core.rukpak.io/v1alpha1/bundledeployments/web', () => ({ ...web, metadata }));
  const { code, stdout, stderr } = await ctl('export', 'web');
  expect(code).toBe(0);
  expect(stderr).toContain('warning: "web" is being deleted: its manifest installs it again\n');
  expect(stdout).toContain('name: web');
});

test('rukpakctl rollback changes no template that a controller would set back', async () => {
  const kinds = [
    ['olm.operatorframework.io/v1', 'ClusterExtension'],
    ['example.com/v1', 'Platform'],
  ] as const;
  const ways: string[] = [];
  for (const [apiVersion, kind] of kinds) {
    const owner = { apiVersion, kind, name: 'painter', uid: 'u', controller: true };
    const metadata = { ...web.metadata, ownerReferences: [owner] };
    api.put(bundleDeploymentResource, { ...web, metadata });
    const { code, stderr } = await ctl('rollback', 'web');
    expect(code).toBe(1);
    ways.push(stderr.slice(stderr.indexOf('nothing')));
  }
  expect(ways).toEqual([
    'nothing is changed: ClusterExtension "painter" has made BundleDeployment "web", and would set spec.template back; "rukpakctl operator upgrade clusterextension/painter --to VERSION --force" installs an earlier version\n',
    'nothing is changed: Platform "painter" has made BundleDeployment "web", and would set spec.template back; change Platform "painter" instead\n',
  ]);
});

describe('rukpakctl uninstall', () => {
  const goes = [
    'BundleDeployment "web" is deleted, and with it:',
    '  Deployment/default/web',
    'These stay:',
    '  ConfigMap/default/notes (it has annotation core.rukpak.io/keep)',
    '',
  ].join('\n');

  test('lists deleted and kept objects, and deletes nothing without a yes', async () => {
    const { code, stdout, stderr } = await ctl('uninstall', 'web');
    expect({ code, stdout }).toEqual({ code: 1, stdout: goes });
    expect(stderr).toContain(
      'nothing is deleted: there is no terminal to ask for confirmation, so pass --yes',
    );
    expect(api.get(bundleDeploymentResource, 'web')).toBeDefined();
    expect(await ctl('uninstall', 'web', '--dry-run')).toEqual({
      code: 0,
      stdout: goes,
      stderr: '',
    });
    expect(api.get(bundleDeploymentResource, 'web')).toBeDefined();
  });

  test.each<{ also: string; annotations?: object; spec?: object; hooks: number }>([
    { also: 'no more', hooks: 2 },
    {
      also: 'an annotation that skips them',
      annotations: { [annotation.skipHooks]: 'true' },
      hooks: 0,
    },
    { also: 'a policy that orphans the objects', spec: { deletionPolicy: 'Orphan' }, hooks: 0 },
  ])('says how many hooks run, with $also', async ({ annotations, spec, hooks }) => {
    api.put(bundleDeploymentResource, {
      ...web,
      metadata: { ...web.metadata, annotations: { ...web.metadata.annotations, ...annotations } },
      spec: { ...web.spec, ...spec },
      status: { ...web.status, hooks: { onDelete: 2 } },
    });
    const { stdout } = await ctl('uninstall', 'web', '--dry-run');
    const line =
      'Core also runs 2 hooks of the deletion (pre-delete, post-delete), unless annotation core.rukpak.io/skip-hooks is "true"';
    expect(stdout.split('\n').filter((each) => each.includes('hook'))).toEqual(
      hooks === 0 ? [] : [line],
    );
    const json = JSON.parse((await ctl('uninstall', 'web', '--dry-run', '-o', 'json')).stdout);
    expect(json).toMatchObject({ hooks });
  });

  test('shows warnings of webhooks before it deletes anything', async () => {
    api.warning = 'Deleting BundleDeployment web deletes CRD "gizmos" and 3 Gizmos';
    const { code, stderr } = await ctl('uninstall', 'web', '--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Warning: ${api.warning}\n` });
    const json = JSON.parse((await ctl('uninstall', 'web', '--yes', '-o', 'json')).stdout);
    expect(json).toMatchObject({ deleted: true, warnings: [api.warning] });
  });

  test.each([
    [
      'operators.operatorframework.io/v1alpha1',
      'Operator',
      'rukpakctl operator uninstall operator/painter',
    ],
    ['example.com/v1', 'Platform', 'kubectl delete platform.example.com painter'],
  ])('deletes nothing that a controller makes again: %s %s', async (...[apiVersion, kind, way]) => {
    const owner = { apiVersion, kind, name: 'painter', uid: 'u', controller: true };
    const metadata = { ...web.metadata, ownerReferences: [owner] };
    api.put(bundleDeploymentResource, { ...web, metadata });
    const { code, stderr } = await ctl('uninstall', 'web', '--yes');
    expect(code).toBe(1);
    expect(stderr).toContain(
      `nothing is deleted: ${kind} "painter" has made BundleDeployment "web", and would make it again; "${way}" deletes both\n`,
    );
    expect(api.get(bundleDeploymentResource, 'web')).toBeDefined();
  });

  test('deletes this very deployment, and waits until it is gone', async () => {
    const { code, stdout } = await ctl('uninstall', 'web', '--yes');
    expect(code).toBe(0);
    expect(stdout).toBe(`${goes}bundledeployment.core.rukpak.io "web" deleted\n`);
    expect(api.get(bundleDeploymentResource, 'web')).toBeUndefined();
    const deletions = api.requests.filter(({ method }) => method === 'DELETE');
    expect(deletions.map(({ body }) => JSON.parse(body).dryRun)).toEqual([['All'], undefined]);
    expect(JSON.parse(deletions[1]?.body ?? '')).toMatchObject({
      preconditions: { uid: 'uid-of-web' },
    });
  });
});

test('rukpakctl run replaces no source of another type', async () => {
  const { code, stdout, stderr } = await ctl('run', 'web', 'deploy/samples/hello');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(
    'BundleDeployment "web" gets its content from a source of type image: choose another name',
  );
  expect(stderr).toContain('"source":{"type":"upload","upload":{},"image":null}');
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('rukpakctl run without a namespace keeps that of an earlier run', async () => {
  const fieldsV1 = { 'f:spec': { 'f:installNamespace': {} } };
  const managedFields = [{ manager: 'rukpakctl', operation: 'Apply', fieldsV1 }];
  const template = { spec: { ...web.spec.template.spec, source: { type: 'upload' } } };
  api.put(bundleDeploymentResource, {
    ...web,
    metadata: { ...web.metadata, managedFields } as KubernetesObject['metadata'],
    spec: { ...web.spec, template, installNamespace: 'shop' },
  });
  const server = ['--server', 'http://127.0.0.1:1', '--timeout', '1ms'];
  const { stdout } = await ctl('run', 'web', 'deploy/samples/hello', ...server);
  expect(stdout).toContain('keeps spec.installNamespace "shop": name another one with -n\n');
  const applied = api.requests.find(({ method }) => method === 'PATCH')?.body ?? '{}';
  expect(JSON.parse(applied).spec).toMatchObject({ installNamespace: 'shop' });
});

describe('rukpakctl run on a deployment with classes of its own', () => {
  const server = ['--server', 'http://127.0.0.1:1', '--timeout', '1ms'];
  const classes = { bundle: 'core-rukpak-io-registry', deployment: 'example-com-apply' };
  const flags = ['--bundle-provisioner-class', '--bundle-deployment-provisioner-class'] as const;

  /** The applied classes, and the lines about them. */
  async function appliedWith(...named: readonly string[]) {
    const spec = { provisionerClassName: classes.bundle, source: { type: 'upload', upload: {} } };
    api.put(bundleDeploymentResource, {
      ...web,
      spec: { ...web.spec, provisionerClassName: classes.deployment, template: { spec } },
    });
    const { stdout } = await ctl('run', 'web', 'deploy/samples/hello', ...server, ...named);
    const applied = api.requests.find(({ method }) => method === 'PATCH')?.body ?? '{}';
    const { provisionerClassName: deployment, template } = JSON.parse(applied).spec;
    const lines = stdout.split('\n').filter((line) => line.includes('keeps class'));
    return { bundle: template.spec.provisionerClassName, deployment, lines };
  }

  test('keeps those that it does not name, and says so', async () => {
    const subject = 'bundledeployment.core.rukpak.io "web" keeps class';
    expect(await appliedWith()).toEqual({
      ...classes,
      lines: [
        `${subject} "${classes.bundle}": name another one with ${flags[0]}`,
        `${subject} "${classes.deployment}": name another one with ${flags[1]}`,
      ],
    });
  });

  test('sets those that it names', async () => {
    const plain = 'core-rukpak-io-plain';
    const named = flags.flatMap((flag) => [flag, plain]);
    expect(await appliedWith(...named)).toEqual({ bundle: plain, deployment: plain, lines: [] });
  });
});

describe('rukpakctl run of an operator', () => {
  const ours = { manager: 'rukpakctl', operation: 'Apply' };
  const refused =
    'nothing is applied: an earlier run set spec.config.installNamespace of BundleDeployment "web" to "prod", and this one would remove it and so move the operator: pass';

  async function aConfig(text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'run-config-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'config.yaml');
    await writeFile(file, text);
    return file;
  }

  /** Runs it over one in namespace `prod`, whose fields these managers own. */
  async function runOver(
    managers: readonly object[],
    flags: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<CtlResult> {
    const names = ['installNamespace', ...Object.keys(more)];
    const fields = Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
    const fieldsV1 = { 'f:spec': { 'f:config': fields } };
    const managedFields = managers.map((manager) => ({ ...manager, fieldsV1 }));
    const template = { spec: { ...web.spec.template.spec, source: { type: 'upload' } } };
    api.put(bundleDeploymentResource, {
      ...web,
      metadata: { ...web.metadata, managedFields } as KubernetesObject['metadata'],
      spec: { ...web.spec, template, config: { installNamespace: 'prod', ...more } },
    });
    const registry = ['--bundle-provisioner-class', 'core-rukpak-io-registry'];
    return await ctl('run', 'web', 'deploy/samples/hello', ...registry, ...flags);
  }

  test.each<[string, string]>([
    ['a config without it', 'watchNamespace: shop\n'],
    ['an empty config', '{}'],
  ])('with %s does not move it out of its namespace', async (_case, config) => {
    const named = config.startsWith('{') ? config : await aConfig(config);
    const { code, stderr } = await runOver([ours], ['--config', named], { watchNamespace: 'shop' });
    expect(stderr).toContain(`${refused} -n prod, or name another namespace to move it`);
    expect(code).toBe(1);
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  /** The applied config, and the lines after the first; no Bundle follows. */
  async function appliedOver(flags: readonly string[]) {
    const server = ['--server', 'http://127.0.0.1:1', '--timeout', '1ms'];
    const more = { watchNamespace: 'shop', env: 'X' };
    const { stdout } = await runOver([ours], [...server, ...flags], more);
    const applied = api.requests.find(({ method }) => method === 'PATCH')?.body ?? '{}';
    return { config: JSON.parse(applied).spec.config, lines: stdout.split('\n').slice(1, -1) };
  }

  test.each<[string, readonly string[], object | undefined, string | undefined]>([
    [
      'without a config keeps that of an earlier run',
      [],
      { installNamespace: 'prod', watchNamespace: 'shop', env: 'X' },
      'installNamespace, watchNamespace, env',
    ],
    [
      'into another namespace keeps the rest of it',
      ['-n', 'other'],
      { installNamespace: 'other', watchNamespace: 'shop', env: 'X' },
      'watchNamespace, env',
    ],
    [
      'with an empty config removes it',
      ['--config', '{}', '-n', 'prod'],
      { installNamespace: 'prod' },
      undefined,
    ],
  ])('%s', async (...[, flags, config, kept]) => {
    expect(await appliedOver(flags)).toEqual({
      config,
      lines:
        kept === undefined
          ? []
          : [
              `bundledeployment.core.rukpak.io "web" keeps ${kept} of spec.config: remove them with --config '{}'`,
            ],
    });
  });

  test('goes on with a namespace that the config names', async () => {
    const config = await aConfig('installNamespace: other\n');
    const { stderr } = await runOver([ours], ['--config', config]);
    expect(stderr).toContain('cannot verify the content server');
  });

  test.each<[string, readonly object[], readonly string[]]>([
    ['that is named again', [ours], ['-n', 'prod']],
    ['that is named anew', [ours], ['-n', 'other']],
    ['that another client owns as well', [ours, { manager: 'k', operation: 'Apply' }], []],
    ['that an update owns', [{ ...ours, operation: 'Update' }], []],
    ['without owners', [], []],
  ])('goes on with a namespace %s', async (_case, managers, flags) => {
    const { stderr } = await runOver(managers, flags);
    // As far as it goes without a content server.
    expect(stderr).toContain('cannot verify the content server');
  });
});

describe('rukpakctl logs', () => {
  const system = {
    metadata: { namespace: 'rukpak-system' },
    spec: { containers: [{ name: 'core' }] },
  };
  const log = '/api/v1/namespaces/rukpak-system/pods/core-1/log';
  const time = '2030-01-01T00:00:00.000Z';
  const entry = (level: string, msg: string, more: object = {}): string =>
    `${time} ${JSON.stringify({ level, time, msg, ...more })}\n`;

  test('shows lines that name the deployment or a Bundle of it', async () => {
    api.put(pods, anObjectOf(pods, 'core-1', system));
    const lines = [
      entry('info', 'applied', { name: 'web' }),
      entry('warn', 'unpacked', { bundle }),
      entry('debug', 'seen', { name: 'web' }),
      entry('info', 'applied', { name: 'other' }),
    ];
    api.answer(log, () => lines.join(''));
    expect((await ctl('logs', 'web')).stdout).toBe(
      `00:00:00 info  applied name="web"\n00:00:00 warn  unpacked bundle="${bundle}"\n`,
    );
    expect((await ctl('logs', '--level=debug')).stdout.split('\n')).toHaveLength(5);
    const { stdout, stderr } = await ctl('logs', 'nobody');
    expect({ stdout, stderr }).toEqual({
      stdout: '',
      stderr: 'nothing of level info or above is logged about "nobody" in the last 60 minutes\n',
    });
  });

  test('leaves out what is said of a Bundle that only has the labels of the deployment', async () => {
    api.put(pods, anObjectOf(pods, 'core-1', system));
    api.put(bundleResource, aLabelledBundle('made-by-others'));
    const owner = { kind: 'BundleDeployment', name: 'web', uid: 'uid-of-web', controller: true };
    api.put(bundleResource, aLabelledBundle('former', { ownerReferences: [owner] }));
    const lines = ['made-by-others', 'former'].map((name) => entry('info', 'unpacked', { name }));
    api.answer(log, () => lines.join(''));
    expect((await ctl('logs', 'web')).stdout).toBe('00:00:00 info  unpacked name="former"\n');
  });

  test.each(['-05:00', '+02:00'])('reads times of a node whose clock is at %s', async (zone) => {
    api.put(pods, anObjectOf(pods, 'core-1', system));
    const clock = (minutes: number): string => {
      const hours = Number.parseInt(zone, 10);
      const local = new Date(Date.now() + hours * 3_600_000 - minutes * 60_000);
      return local.toISOString().replace('Z', `456789${zone}`);
    };
    const line = (minutes: number): string =>
      `${clock(minutes)} ${JSON.stringify({ level: 'info', time, msg: `${minutes} min ago` })}\n`;
    api.answer(log, () => line(90) + line(20) + line(10));
    expect((await ctl('logs')).stdout).toBe(
      '00:00:00 info  20 min ago\n00:00:00 info  10 min ago\n',
    );
  });

  test('reads on where a log is too long for one answer', async () => {
    api.put(pods, anObjectOf(pods, 'core-1', system));
    const at = (second: number): string => `2030-01-01T00:00:0${second}.000000000Z`;
    const long = 'x'.repeat(1.5 * 1024 * 1024);
    const written = [1, 2, 3].map((second) => `${at(second)} ${long}\n`);
    const all = [...written, entry('info', 'the last').replace(time, at(4))];
    api.answer(log, ({ query }) => {
      const since = query.get('sinceTime') ?? '';
      const asked = all.filter((line) => line.slice(0, at(0).length) >= since).join('');
      return asked.slice(0, Number(query.get('limitBytes')));
    });
    const { stdout } = await ctl('logs', '-o', 'json');
    const read = stdout.trimEnd().split('\n');
    expect(read.slice(0, 3).map((line) => line.length)).toEqual([1, 2, 3].map(() => long.length));
    expect(read.slice(3)).toEqual([expect.stringContaining('the last')]);
  });

  test('says where the log is of a system outside the cluster', async () => {
    const { code, stderr } = await ctl('logs');
    expect(code).toBe(1);
    expect(stderr).toContain('namespace "rukpak-system" has no Pods');
  });
});

test('a --watch ends when nobody reads it any more', { tags: ['process'] }, async () => {
  const system = {
    metadata: { namespace: 'rukpak-system' },
    spec: { containers: [{ name: 'core' }] },
  };
  api.put(pods, anObjectOf(pods, 'core-1', system));
  let second = 0;
  api.answer('/api/v1/namespaces/rukpak-system/pods/core-1/log', () => {
    second += 1;
    return `${new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString()} line ${second}\n`;
  });
  const { code, stderr } = await spawnRukpakctl(['logs', '--watch'], {
    env: { KUBECONFIG: api.kubeconfig },
    onStart: ({ stdout }) => stdout?.once('data', () => stdout.destroy()),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('a closed stderr leaves the exit code as it is', { tags: ['process'] }, async () => {
  const { code } = await spawnRukpakctl(['diff', './nothing', 'web'], {
    env: { KUBECONFIG: api.kubeconfig },
    onStart: ({ stderr }) => stderr?.destroy(),
  });
  // 1 would say that something would change.
  expect(code).toBe(2);
});

describe('rukpakctl status --watch', { tags: ['process'] }, () => {
  test('shows a change when it comes, and nothing twice, until Ctrl-C', async () => {
    let printed = '';
    const { code, stdout } = await spawnRukpakctl(['status', '--watch', '-o', 'json'], {
      env: { KUBECONFIG: api.kubeconfig },
      onStart: (child) => {
        child.stdout?.on('data', (text: string) => {
          printed += text;
          if (printed.endsWith('\n') && !printed.includes('"other"')) {
            api.put(bundleDeploymentResource, aStoredDeployment({ name: 'other' }));
          } else if (printed.includes('"other"')) {
            child.kill('SIGINT');
          }
        });
      },
    });
    expect(code).toBe(0);
    const names = stdout
      .trimEnd()
      .split('\n')
      .map((line) => {
        const shown = JSON.parse(line) as { bundleDeployments: readonly { name: string }[] };
        return shown.bundleDeployments.map(({ name }) => name);
      });
    expect(names).toEqual([['web'], ['web', 'other']]);
  });
});

describe('rukpakctl status --watch of an API server', { tags: ['process'] }, () => {
  /** Watches; `onPrinted` gets all of stdout and stderr so far, at each change. */
  async function watched(
    onPrinted: (printed: Readonly<Record<'stdout' | 'stderr', string>>) => 'stop' | undefined,
  ): Promise<CtlResult> {
    const printed = { stdout: '', stderr: '' };
    return await spawnRukpakctl(['status', '--watch', '-o', 'json'], {
      env: { KUBECONFIG: api.kubeconfig },
      onStart: (child) => {
        for (const name of ['stdout', 'stderr'] as const) {
          child[name]?.on('data', (text: string) => {
            printed[name] += text;
            if (onPrinted(printed) === 'stop') child.kill('SIGINT');
          });
        }
      },
    });
  }

  test('that is away for a while goes on', async () => {
    const { code, stdout, stderr } = await watched((printed) => {
      if (printed.stdout.includes('"other"')) return 'stop';
      api.isDown = printed.stderr === '';
      if (!api.isDown) api.put(bundleDeploymentResource, aStoredDeployment({ name: 'other' }));
      return undefined;
    });
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toMatch(/^.* cannot reach the API server .*: retrying every second\n$/);
  });

  test('that refuses ends', async () => {
    const { code, stderr } = await watched(() => {
      api.answer('/apis/core.rukpak.io/v1alpha1/bundledeployments', () => undefined);
      return undefined;
    });
    expect(code).toBe(1);
    expect(stderr).toContain('not found');
  });

  test('that was never there ends', async () => {
    api.isDown = true;
    const { code, stderr } = await watched(() => undefined);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^.* cannot reach the API server (?!.*retrying).*\n$/);
  });
});

describe('habits', () => {
  test('acts as another user, in groups', async () => {
    await ctl('status', '--as', 'jane', '--as-group', 'dev', '--as-group', 'ops');
    expect(api.requests.at(-1)?.headers).toMatchObject({
      'impersonate-user': 'jane',
      'impersonate-group': 'dev, ops',
    });
    const { code, stderr } = await ctl('status', '--as-group', 'dev');
    expect(code).toBe(1);
    expect(stderr).toContain('--as-group needs --as');
  });

  test('prints YAML', async () => {
    const { stdout } = await ctl('status', '-o', 'yaml');
    expect(stdout).toContain('bundleDeployments:\n- name: web\n');
  });

  test('removing releases that nobody has says so', async () => {
    api.serve({ ...core, kind: 'Secret', plural: 'secrets' });
    expect((await ctl('remove-helm-releases', '--all')).stdout).toBe(
      'there are no Helm releases to remove\n',
    );
  });

  test('pausing a paused deployment reports that', async () => {
    const resumed = await ctl('resume', 'web');
    expect(resumed.stdout).toBe('bundledeployment.core.rukpak.io "web" is not paused\n');
    expect((await ctl('pause', 'web')).stdout).toContain('"web" paused\n');
    expect((await ctl('pause', 'web')).stdout).toContain('"web" is paused already\n');
  });

  test('lists the deployments of a namespace', async () => {
    expect((await ctl('status', '-n', 'rukpak-system')).stdout).toContain('web ');
    expect((await ctl('status', '-n', 'shop')).stdout).toBe(
      'there are no BundleDeployments that install into namespace "shop"\n',
    );
  });

  test.each([
    ['shop', 1],
    ['rukpak-system', 0],
  ])('with --exit-code, namespace %s is %i', async (namespace, code) => {
    const status = { ...web.status, conditions: [{ type: 'Installed', status: 'True' }] };
    api.put(bundleDeploymentResource, { ...web, status });
    expect((await ctl('status', '-n', namespace, '--exit-code')).code).toBe(code);
    expect((await ctl('status', '-n', namespace)).code).toBe(0);
  });
});
