import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type {
  BundleDeployment,
  BundleDeploymentSpec,
  BundleDeploymentStatus,
  PlanStatus,
} from '../../api/v1alpha1/index.ts';
import { AuditLog } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { ForwardingNode } from '../helpers/forwarding-node.ts';
import { followHowto } from '../helpers/howto.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aBundleDeployment, aConfigMap, aCRD, aDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';
import { tokenOf } from '../helpers/service-account.ts';
import { tlsGet } from '../helpers/tls-request.ts';

const namespace = 'rukpak-system';
const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const audit = new AuditLog(plane.clusterDir);

let system: InClusterSystem;
let core: LocalPod;
let node: ForwardingNode;

beforeAll(async () => {
  system = await InClusterSystem.install({ kubectl, registry });
  await system.startWebhooks();
  await system.startCrdvalidator();
  core = await system.startCore();
  const forwards = { 8443: core.ports[1] ?? 0 };
  const clusterDir = plane.clusterDir;
  node = await ForwardingNode.start({ kubectl, kubeconfig, clusterDir, name: 'plan', forwards });
  await node.take(namespace, 'core');
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
});

afterAll(async () => {
  // Before the node: a pod whose node is gone is collected a minute later, and its namespace with it.
  await system?.remove();
  await node?.remove();
  // The overlay keeps CRDs.
  const kept = ['planneds.e2e.example.com', '--ignore-not-found', '--timeout=300s'];
  await kubectl.must(['delete', 'crd', ...kept]);
});

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(args, { env: { KUBECONFIG: kubeconfig } });
}

/** Creates or upgrades a BundleDeployment with upgradePolicy Manual. */
async function ask(
  [name, version]: readonly [name: string, version: number],
  objects: readonly object[],
  fields: Partial<BundleDeploymentSpec> = {},
): Promise<void> {
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name, version, files });
  const { spec, ...deployment } = aBundleDeployment({ name, source }) as BundleDeployment;
  await kubectl.apply({ ...deployment, spec: { ...spec, upgradePolicy: 'Manual', ...fields } });
}

async function statusOf(name: string): Promise<BundleDeploymentStatus> {
  const { status } = (await kubectl.get('bundledeployment', name)) as BundleDeployment;
  return status ?? {};
}

/** The plan that a deployment waits with, once it is another one than this. */
async function planOf(name: string, other?: PlanStatus): Promise<PlanStatus> {
  return await eventually(async () => {
    const status = await statusOf(name);
    const { plan } = status;
    if (plan === undefined || plan.digest === other?.digest)
      throw new Error(JSON.stringify(status));
    return plan;
  });
}

async function message(name: string): Promise<string> {
  const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Progressing');
  return `${condition?.reason}: ${condition?.message}`;
}

async function approve(name: string): Promise<void> {
  expect(await ctl('approve', name, '--wait', '--timeout=300s')).toMatchObject({
    code: 0,
    stderr: '',
  });
}

async function annotate(name: string, digest: string): Promise<void> {
  const approval = `core.rukpak.io/approve=${digest}`;
  await kubectl.must(['annotate', '--overwrite', 'bundledeployment', name, approval]);
}

function aSecret(name: string, stringData: object): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, stringData };
}

async function dataOf(name: string): Promise<unknown> {
  return (await kubectl.get('configmap', name, 'default'))['data'];
}

test('the session of the page', { tags: 'long' }, async () => {
  // Another page has a store too, which goes in its own time.
  const store = ['namespace', 'store', '--ignore-not-found', '--timeout=600s'];
  await kubectl.must(['delete', ...store]);
  const printed = await followHowto(
    { page: 'plan-and-approve.md', kubectl, kubeconfig },
    'A session',
  );
  expect(printed).toContain(
    [
      'create Namespace store',
      'create Secret store/store',
      'create ConfigMap store/settings',
      'create Deployment.apps store/web',
      '',
      '4 to create, 0 to change, 0 to delete, 0 unchanged',
      '',
    ].join('\n'),
  );
  expect(printed).toContain(
    [
      'change Secret store/store',
      '    data.password: *** -> ***',
      'create Service store/web',
      'change Deployment.apps store/web',
      '    spec.replicas: 1 -> 2',
      '    spec.template.spec.containers[name="web"].image: "registry.example/web:1" -> "registry.example/web:2"',
      'delete ConfigMap store/settings',
      '',
      '1 to create, 2 to change, 1 to delete, 1 unchanged',
      '',
    ].join('\n'),
  );
  expect(printed.match(/^bundle "store-\w+" is installed$/gm)).toHaveLength(2);
  expect(printed).toMatch(/registry\.example\/web:2$/);
  expect(printed).not.toMatch(
    /correct horse|battery staple|Y29ycmVjdCBob3JzZQ|YmF0dGVyeSBzdGFwbGU/,
  );
  await kubectl.deleteNamed('bundledeployment', ['store']);
  const contents = ['store-content-v1', 'store-content-v2'];
  await eventually(async () => {
    await kubectl.deleteNamed('configmap', contents, { namespace, ignoreNotFound: true });
  }, patiently);
  await kubectl.must(['delete', ...store]);
});

describe('while a plan waits', () => {
  const name = 'plan-waits';
  const v1 = [
    aConfigMap('pw-a', { a: '1' }),
    aConfigMap('pw-b'),
    aSecret('pw-s', { p: 'topsecret1' }),
  ];
  const v2 = [
    aConfigMap('pw-a', { a: '2' }),
    aSecret('pw-s', { p: 'topsecret2' }),
    aConfigMap('pw-c'),
  ];

  test('nothing is changed, and what is installed is repaired', async () => {
    await ask([name, 1], v1);
    await planOf(name);
    expect(await kubectl.exists('configmap', 'pw-a', 'default')).toBe(false);
    await approve(name);
    await ask([name, 2], v2);
    const plan = await planOf(name);
    expect(plan).toMatchObject({
      create: 1,
      change: 2,
      delete: 1,
      unchanged: 0,
      changes: [
        { action: 'Change', kind: 'Secret', name: 'pw-s', fields: ['data.p'] },
        { action: 'Change', kind: 'ConfigMap', name: 'pw-a', fields: ['data.a'] },
        { action: 'Create', kind: 'ConfigMap', namespace: 'default', name: 'pw-c' },
        { action: 'Delete', kind: 'ConfigMap', name: 'pw-b' },
      ],
    });
    const { activeBundle } = await statusOf(name);
    expect(activeBundle).not.toBe(plan.bundle);
    expect(await message(name)).toContain(`rukpakctl approve ${name}`);
    await kubectl.deleteNamed('configmap', ['pw-b'], { namespace: 'default' });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'pw-b', 'default')).toBe(true);
    });
    expect(await dataOf('pw-a')).toEqual({ a: '1' });
    expect(await kubectl.exists('configmap', 'pw-c', 'default')).toBe(false);
    const stored = await kubectl.get('secret', `rukpak-plan-${name}`, namespace);
    expect(JSON.stringify([stored, await kubectl.get('bundledeployment', name)])).not.toContain(
      'topsecret',
    );
    // It was made again, and is another one for the ConfigMap that was.
    await eventually(async () => await approve(name));
    expect(await kubectl.exists('configmap', 'pw-b', 'default')).toBe(false);
    expect(await kubectl.exists('secret', `rukpak-plan-${name}`, namespace)).toBe(false);
    expect(await statusOf(name)).toMatchObject({
      activeBundle: plan.bundle,
      approval: { bundle: plan.bundle },
    });
  });

  test('it costs no request', async () => {
    await ask(['plan-idle', 1], [aConfigMap('pi-a')]);
    await planOf('plan-idle');
    await eventually(async () => expect(await message('plan-idle')).toContain('AwaitingApproval'));
    // What the tests before have left is looked at first.
    await eventually(async () => {
      const position = await audit.position();
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      const requests = await audit.since(position);
      const mine = requests.filter(({ resource }) =>
        /configmaps|bundledeployments|secrets/.test(resource),
      );
      expect(mine.filter(({ verb }) => verb !== 'watch')).toEqual([]);
    });
  });
});

describe('an approval', () => {
  test('by annotation applies the plan, and drift afterwards needs none', async () => {
    const name = 'plan-annotated';
    await ask([name, 1], [aConfigMap('pa-a', { a: '1' })]);
    const { digest, bundle } = await planOf(name);
    await annotate(name, digest);
    await eventually(async () => expect((await statusOf(name)).activeBundle).toBe(bundle));
    expect((await statusOf(name)).approval).toMatchObject({ digest, bundle });
    await kubectl.must([
      'patch',
      'configmap',
      'pa-a',
      '--namespace=default',
      '-p',
      '{"data":{"a":"9"}}',
    ]);
    await eventually(async () => expect(await dataOf('pa-a')).toEqual({ a: '1' }));
    await kubectl.deleteNamed('configmap', ['pa-a'], { namespace: 'default' });
    await eventually(async () => expect(await dataOf('pa-a')).toEqual({ a: '1' }));
    await eventually(async () => {
      const events = await kubectl.must(['get', 'events', '-A', '-o=jsonpath={.items[*].reason}']);
      expect(events).toContain('PlanApproved');
    });
  });

  test('is for the cluster as it was', async () => {
    const name = 'plan-outdated';
    await ask([name, 1], [aConfigMap('po-a')]);
    const plan = await planOf(name);
    await kubectl.apply(aConfigMap('po-a', { theirs: '1' }));
    await annotate(name, plan.digest);
    const next = await planOf(name, plan);
    expect(next.problems?.[0]).toContain(
      'ConfigMap "po-a" in namespace "default" exists and has no owner',
    );
    await eventually(async () => {
      expect(await message(name)).toContain(`the approved plan ${plan.digest} is outdated`);
    });
    expect(await dataOf('po-a')).toEqual({ theirs: '1' });
    const refused = await ctl('approve', name);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`the plan of "${name}" would fail: ConfigMap "po-a"`);
    await kubectl.deleteNamed('configmap', ['po-a'], { namespace: 'default' });
    // The approval holds for the cluster as it was, and is again.
    await eventually(async () => expect((await statusOf(name)).activeBundle).toBe(plan.bundle));
  });

  test('is for one Bundle', async () => {
    const name = 'plan-moved';
    await ask([name, 1], [aConfigMap('pm-a', { a: '1' })]);
    const plan = await planOf(name);
    await ask([name, 2], [aConfigMap('pm-a', { a: '2' })]);
    await annotate(name, plan.digest);
    const next = await planOf(name, plan);
    const other = await ctl('approve', name, '--digest', plan.digest);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain(
      `the plan of "${name}" has changed: its digest is ${next.digest}, not ${plan.digest}. `,
    );
    expect(await kubectl.exists('configmap', 'pm-a', 'default')).toBe(false);
    expect((await ctl('approve', name, '--digest', next.digest, '--wait')).code).toBe(0);
    expect(await dataOf('pm-a')).toEqual({ a: '2' });
    expect((await ctl('approve', name)).stderr).toContain(
      `BundleDeployment "${name}" has no plan that waits for approval`,
    );
    expect((await ctl('plan', name)).stderr).toContain(
      `BundleDeployment "${name}" has no plan that waits for approval`,
    );
  });

  test('is finished by the next process where one ends in the middle', {
    tags: ['long'],
  }, async () => {
    const name = 'plan-crashed';
    const maps = Array.from({ length: 100 }, (_, n) => aConfigMap(`pc-${n}`, { a: '1' }));
    // However fast it is, it is not done with them before a node is there for the Deployment.
    const objects = [...maps, heldUp(aDeployment('pc')), inLastStage(aConfigMap('pc-last'))];
    await ask([name, 1], objects, { stages: { waitForReady: true } });
    const { digest, bundle } = await planOf(name);
    await annotate(name, digest);
    const owned = `core.rukpak.io/owner-name=${name}`;
    await eventually(async () => expect(await kubectl.list('configmaps', owned)).not.toEqual([]));
    await core.end('SIGKILL');
    expect(await kubectl.exists('configmap', 'pc-last', 'default')).toBe(false);
    await core.start();
    await kubectl.labelNodes({ plan: 'crashed' });
    await eventually(async () => expect((await statusOf(name)).activeBundle).toBe(bundle));
    await kubectl.labelNodes({ plan: null });
    expect(await kubectl.list('configmaps', owned)).toHaveLength(maps.length + 1);
    expect((await statusOf(name)).plan).toBeUndefined();
  });

  function heldUp(deployment: object): object {
    const { spec, ...rest } = deployment as { spec: { template: { spec: object } } };
    const pods = { ...spec.template.spec, nodeSelector: { plan: 'crashed' } };
    return { ...rest, spec: { ...spec, template: { ...spec.template, spec: pods } } };
  }

  function inLastStage(object: object): object {
    const { metadata, ...rest } = object as KubernetesObject;
    const annotations = { 'core.rukpak.io/stage': '20' };
    return { ...rest, metadata: { ...metadata, annotations } };
  }
});

describe('a plan', () => {
  test('has what nobody can try out: new kinds, what is in new namespaces, and what is orphaned', async () => {
    const name = 'plan-new';
    const kind = 'Planned';
    const custom = {
      apiVersion: 'e2e.example.com/v1',
      kind,
      metadata: { name: 'pn' },
      spec: { size: 1 },
    };
    const inside = { ...aConfigMap('pn'), metadata: { name: 'pn', namespace: 'plan-new' } };
    const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'plan-new' } };
    await ask([name, 1], [aCRD(kind), own, inside, custom]);
    const first = await planOf(name);
    expect(first).toMatchObject({ create: 4, change: 0, delete: 0, unchanged: 0 });
    expect(await kubectl.exists('namespace', 'plan-new')).toBe(false);
    await approve(name);
    await eventually(async () => {
      expect(await kubectl.exists('planneds', 'pn', namespace)).toBe(true);
    });

    // The overlay keeps CRDs: the next version would orphan them, and delete nothing.
    await ask([name, 2], [own, inside]);
    const second = await planOf(name, first);
    expect(second).toMatchObject({ create: 0, change: 0, delete: 0, orphan: 2, unchanged: 2 });
    expect(second.changes.map(({ action }) => action)).toEqual(['Orphan', 'Orphan']);
    const { stdout } = await ctl('plan', name);
    expect(stdout).toContain(
      `orphan ${kind}.e2e.example.com ${namespace}/pn (the deletion policy is KeepCRDs)\n`,
    );
    await approve(name);
    const { labels = {} } = (await kubectl.get('planneds', 'pn', namespace)).metadata;
    expect(labels).not.toHaveProperty(['core.rukpak.io/owner-name']);
  });

  test('names what the API server would refuse', async () => {
    const name = 'plan-refused';
    const { spec, ...rest } = aDeployment('pr') as { spec: object };
    const bad = { ...rest, spec: { ...spec, selector: { matchLabels: { app: 'other' } } } };
    await ask([name, 1], [aConfigMap('pr'), bad]);
    const plan = await planOf(name);
    expect(plan.problems).toEqual([
      expect.stringContaining('Deployment "pr" in namespace "default": '),
    ]);
    expect(await message(name)).toContain(
      'cannot be approved, because it would fail: Deployment "pr"',
    );
    const { code, stdout } = await ctl('plan', name);
    expect(code).toBe(0);
    expect(stdout).toContain('would fail: Deployment "pr" in namespace "default": ');
    await annotate(name, plan.digest);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await kubectl.exists('configmap', 'pr', 'default')).toBe(false);
  });

  test('of thousands of fields has the first in the status, and all that fits from the server', async () => {
    const name = 'plan-large';
    const data = (text: string): Readonly<Record<string, string>> =>
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, `${text}-${n}`]));
    const maps = (text: string): object[] =>
      Array.from({ length: 60 }, (_, n) => aConfigMap(`pl-${n}`, data(text)));
    await ask([name, 1], maps('first'));
    await planOf(name);
    await approve(name);
    await ask([name, 2], maps('second'));
    const plan = await planOf(name);
    expect(plan).toMatchObject({ change: 60, truncated: true });
    expect(plan.changes).toHaveLength(30);
    expect(plan.changes[0]?.fields).toHaveLength(8);
    const { stdout } = await ctl('plan', name, '--output=json');
    const full = JSON.parse(stdout);
    expect(full.changes).toHaveLength(60);
    expect(full.changes[0]).toMatchObject({ moreFields: 200, fields: expect.any(Array) });
    expect(full.changes[59].fields).toHaveLength(100);
    expect(full.digest).toBe(plan.digest);
  });

  test('leaves to others what they may change', async () => {
    const name = 'plan-left';
    const drift = { ignore: [{ kind: 'ConfigMap', paths: ['/data/theirs'] }] };
    const version = (ours: string): object[] => [aConfigMap('plf', { ours, theirs: '0' })];
    await ask([name, 1], version('1'), { drift });
    await planOf(name);
    await approve(name);
    const change = ['--namespace=default', '-p', '{"data":{"theirs":"9"}}'];
    await kubectl.must(['patch', 'configmap', 'plf', ...change]);
    await ask([name, 2], version('2'), { drift });
    expect((await planOf(name)).changes).toMatchObject([{ name: 'plf', fields: ['data.ours'] }]);
    await approve(name);
    expect(await dataOf('plf')).toEqual({ ours: '2', theirs: '9' });
  });

  test('is asked for with the permissions of the deployment', async () => {
    const name = 'plan-poor';
    const account = { namespace: 'default', name: 'plan-poor' };
    await kubectl.must(['create', 'serviceaccount', account.name]);
    await ask([name, 1], [aConfigMap('pp')], { serviceAccount: account });
    await eventually(async () => {
      const text = await message(name);
      expect(text).toContain('AwaitingApproval: no plan can be made of Bundle plan-poor-');
      expect(text).toContain('configmaps');
    });
    await eventually(async () => {
      const live = await kubectl.get('bundledeployment', name);
      expect(conditionOf(live, 'Installed')?.reason).toBe('PermissionsMissing');
    });
    const role = ['--verb=*', '--resource=configmaps'];
    await kubectl.must(['create', 'role', name, ...role]);
    const subject = `--serviceaccount=default:${account.name}`;
    await kubectl.must(['create', 'rolebinding', name, `--role=${name}`, subject]);
    expect(await planOf(name)).toMatchObject({ create: 1 });
    await approve(name);
    expect(await kubectl.exists('configmap', 'pp', 'default')).toBe(true);
    await kubectl.deleteNamed('bundledeployment', [name]);
    await kubectl.deleteNamed('role,rolebinding,serviceaccount', [name], { namespace: 'default' });
  });

  test('is shown to those who may get the deployment, and to nobody else', async () => {
    const name = 'plan-shown';
    await ask([name, 1], [aConfigMap('ps-a')]);
    await planOf(name);
    const account = { namespace: 'default', name: 'plan-reader' };
    await kubectl.must(['create', 'serviceaccount', account.name]);
    const server = await system.contentServer(core);
    const path = `/bundledeployments/${name}/plan`;
    const token = await tokenOf(kubectl, account);
    expect((await tlsGet(server, path, token)).status).toBe(403);
    const role = [
      '--verb=get',
      '--resource=bundledeployments.core.rukpak.io',
      `--resource-name=${name}`,
    ];
    await kubectl.must(['create', 'clusterrole', 'plan-reader', ...role]);
    const subject = '--serviceaccount=default:plan-reader';
    await kubectl.must([
      'create',
      'clusterrolebinding',
      'plan-reader',
      '--clusterrole=plan-reader',
      subject,
    ]);
    await eventually(async () => {
      const { status, body } = await tlsGet(server, path, token);
      expect(status).toBe(200);
      expect(JSON.parse(body.toString())).toMatchObject({ bundleDeployment: name, create: 1 });
    });
    expect((await tlsGet(server, path.replace(name, 'other'), token)).status).toBe(403);
    await kubectl.deleteNamed('clusterrole,clusterrolebinding', ['plan-reader']);
    await kubectl.deleteNamed('serviceaccount', [account.name]);
  });
});
