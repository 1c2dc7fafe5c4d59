import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { apiServerOnly, InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { SystemSmoke } from '../helpers/system-smoke.ts';

const { registry, kubeconfig } = plane;
const team = 'impersonation-team';
const core = 'rukpak-system:core-admin';
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const smoke = new SystemSmoke({
  kubectl,
  registry,
  prefix: 'impersonation',
  serviceAccount: { namespace: team, name: 'deployer' },
});

let system: InClusterSystem;

beforeAll(async () => {
  await kubectl.deleteNamed('namespace', [team], { ignoreNotFound: true });
  system = await InClusterSystem.install({
    kubectl,
    registry,
    overlay: 'impersonation',
    inProcess: true,
  });
  await system.startWebhooks(apiServerOnly(plane.clusterDir));
  await system.startCore();
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: team } });
  for (const name of ['deployer', 'unlisted']) {
    await kubectl.must(['create', 'serviceaccount', name, `--namespace=${team}`]);
    await mayInstallConfigMaps(name);
  }
  await list('deployer');
});

afterAll(async () => {
  await system?.remove();
  await kubectl.deleteNamed('namespace', [team], { wait: false, ignoreNotFound: true });
  const ours = 'deployer,unlisted'.split(',').map((name) => `impersonation-${name}`);
  const target = ['rolebinding,role', ...ours, '--namespace=default', '--ignore-not-found'];
  await kubectl.run(['delete', ...target]);
});

/** What it takes to install them in namespace default. */
async function mayInstallConfigMaps(account: string): Promise<void> {
  const name = `impersonation-${account}`;
  const verbs = '--verb=get,list,watch,create,update,patch,delete';
  const place = '--namespace=default';
  await kubectl.deleteNamed('rolebinding,role', [name], { ignoreNotFound: true });
  await kubectl.must(['create', 'role', name, verbs, '--resource=configmaps', place]);
  const subject = `--serviceaccount=${team}:${account}`;
  await kubectl.must(['create', 'rolebinding', name, `--role=${name}`, subject, place]);
}

/** As the howto says. */
async function list(account: string): Promise<void> {
  const name = `core-as-${account}`;
  const place = `--namespace=${team}`;
  const what = ['--verb=get,impersonate', '--resource=serviceaccounts'];
  await kubectl.must(['create', 'role', name, ...what, `--resource-name=${account}`, place]);
  const subject = `--serviceaccount=${core}`;
  await kubectl.must(['create', 'rolebinding', name, `--role=${name}`, subject, place]);
}

test.each([
  [['*', '*'], 'no'],
  [['create', 'configmaps', '--namespace=default'], 'no'],
  [['get', 'secrets', '--namespace=default'], 'no'],
  [['create', 'clusterrolebindings'], 'no'],
  [['impersonate', 'users'], 'no'],
  [['impersonate', 'groups'], 'no'],
  [['impersonate', 'serviceaccounts', '--namespace=kube-system'], 'no'],
  [['impersonate', 'serviceaccount/deployer', `--namespace=${team}`], 'yes'],
  [['impersonate', 'serviceaccount/unlisted', `--namespace=${team}`], 'no'],
])('may core itself %j: %s', async (what, answer) => {
  const user = `--as=system:serviceaccount:${core}`;
  expect((await kubectl.run(['auth', 'can-i', ...what, user])).stdout.trim()).toBe(answer);
});

test('rukpakctl verify knows that core has no more permissions', async () => {
  const { stdout } = await rukpakctl(['verify'], { env: { KUBECONFIG: kubeconfig } });
  expect(stdout).toContain(
    'ok       ServiceAccount rukpak-system/core-admin: permissions asked about: 8, all granted\n',
  );
});

test('content is installed, repaired, changed and removed as the account', () =>
  smoke.livesThroughPlain());

test('so is a chart', () => smoke.livesThroughChart());

test('a deployment without an account is refused', async () => {
  const source = await smoke.content('impersonation-none', 1, [aConfigMap('impersonation-none')]);
  const deployment = JSON.stringify(aBundleDeployment({ name: 'impersonation-none', source }));
  const { stderr } = await kubectl.run(['create', '-f', '-'], deployment);
  expect(stderr).toContain('spec.serviceAccount');
});

test('as an account that is not listed, nothing is installed', async () => {
  const name = 'impersonation-unlisted';
  const others = new SystemSmoke({
    kubectl,
    registry,
    prefix: name,
    serviceAccount: { namespace: team, name: 'unlisted' },
  });
  await others.rollOut({ name, source: await others.content(name, 1, [aConfigMap(name)]) });
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const { status, message } = conditionOf(deployment, 'Installed') ?? {};
    expect(status).toBe('False');
    expect(message).toMatch(/cannot (?:impersonate|get) resource "serviceaccounts"/);
  });
  const found = await kubectl.run(['get', 'configmap', name, '--namespace=default']);
  expect(found.stderr).toContain('not found');
  await list('unlisted');
  await others.isInstalled(name);
  await kubectl.deleteNamed('bundledeployment', [name]);
});

test('no other right was missing', () => {
  const lines = system.logs.flatMap((log) => log.split('\n'));
  const missing = lines.filter((line) => /forbidden/i.test(line));
  expect(missing.filter((line) => !line.includes('impersonation-unlisted'))).toEqual([]);
});
