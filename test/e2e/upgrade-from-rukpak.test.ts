// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { type FormerContent, FormerRukpak } from '../helpers/former-rukpak/former-rukpak.ts';
import {
  installFormerRukpak,
  installFormerWebhooks,
} from '../helpers/former-rukpak/installation.ts';
import {
  helmApp,
  plainApp,
  pushed,
  registryApp,
  stuckApp,
  templateOf,
  uploadApp,
  versions,
} from '../helpers/former-rukpak/subjects.ts';
import { followHowto, runCommand } from '../helpers/howto.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles } from '../helpers/push-content.ts';

const registry = plane.registry;
const kubeconfig = plane.kubeconfig;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const overlay = 'overlays/self-signed-from-rukpak';
/** What a release has, of the checkout. */
const files = { [`release/kustomize/${overlay}`]: `deploy/${overlay}` };
const howto = { page: 'upgrade-from-rukpak.md', kubectl, kubeconfig, files };
const selector = 'core.rukpak.io/owner-kind=BundleDeployment';
const releases = 'owner=helm';
const kinds =
  'configmaps,secrets,serviceaccounts,services,deployments,namespaces,clusterroles,' +
  'clusterrolebindings,customresourcedefinitions';
const setID = 'applyset.kubernetes.io/id';

let system: InClusterSystem;
let contents: readonly FormerContent[];
let before: ReadonlyMap<string, string>;

/** Everything that RukPak made, the pods of what it installed, and who they are. */
async function identities(): Promise<ReadonlyMap<string, string>> {
  const objects = [
    ...(await kubectl.list('bundledeployments')),
    ...(await kubectl.list(`bundles,${kinds}`, selector)),
    ...(await kubectl.list('secrets', releases)),
    ...(await kubectl.list('pods', 'app in (former-app, former-operator)')),
  ];
  return new Map(objects.map((object) => [pathOf(object), object.metadata.uid ?? '']));
}

function pathOf({
  kind,
  metadata: { namespace: place = '', name = '' },
}: KubernetesObject): string {
  return `${kind}/${place}/${name}`;
}

async function deployment(name: string): Promise<KubernetesObject> {
  return await kubectl.get('bundledeployment', name);
}

async function takenOver(name: string): Promise<void> {
  const found = await deployment(name);
  expect(found.metadata.labels).toHaveProperty([setID]);
  expect(conditionOf(found, 'Installed')).toMatchObject({
    status: 'True',
    reason: 'InstallationSucceeded',
  });
  expect(conditionOf(found, 'Healthy')).toMatchObject({ status: 'True', reason: 'Healthy' });
}

async function dataOf(name: string): Promise<unknown> {
  return (await kubectl.get('configmap', name, 'default'))['data'];
}

beforeAll(async () => {
  system = await InClusterSystem.prepare({
    kubectl,
    registry,
    overlay: 'self-signed-from-rukpak',
  });
  await cleanUp();
  await installFormerRukpak(kubectl);
  // What is established is served a moment later.
  await eventually(async () => await kubectl.must(['get', 'bundles,bundledeployments']));
  contents = [
    await plainApp({ registry }),
    await registryApp({ registry }),
    uploadApp(),
    await stuckApp({ registry }),
    await helmApp({ registry }),
  ];
  const former = new FormerRukpak(kubectl);
  for (const content of contents) await former.install(content);
  await installFormerWebhooks(kubectl);
  await kubectl.must(['rollout', 'status', 'deployment/former-app', '--timeout=300s']);
  const operator = ['deployment/former-operator', '--namespace=former-operator'];
  await kubectl.must(['rollout', 'status', ...operator, '--timeout=300s']);
  before = await identities();
});

afterAll(cleanUp);

/** Of this run, or of one that was cut short. */
async function cleanUp(): Promise<void> {
  await system?.remove();
  await kubectl.deleteNamed('configmap', ['former-kept'], { ignoreNotFound: true });
  // What had no owner but in words is collected by nobody.
  const every = ['--all-namespaces', '--selector', selector, '--wait=false'];
  await kubectl.run(['delete', kinds, ...every]);
  await eventually(async () => expect(await kubectl.list(kinds, selector)).toEqual([]), patiently);
}

test('the howto is followed', async () => {
  await followHowto(howto, 'Stop RukPak');
  await followHowto(howto, 'Install');
  await system.startWebhooks([], () => system.overlay.apply());
  await system.startCrdvalidator();
  await system.startCore();
});

test('the new CRDs and webhooks take what RukPak has stored', async () => {
  for (const kind of ['bundles', 'bundledeployments']) {
    await kubectl.must(['annotate', kind, '--all', 'touched=yes', '--dry-run=server']);
  }
});

test.each(['former-app', 'former-operator', 'former-stuck', 'former-chart'])(
  '%s is installed and healthy under our control',
  async (name) => {
    await eventually(() => takenOver(name));
  },
);

async function rolloutsOf(name: string): Promise<string | undefined> {
  const { annotations } = (await kubectl.get('deployment', name, 'default')).metadata;
  return annotations?.['deployment.kubernetes.io/revision'];
}

test('nothing was deleted or made anew, but what a bundle no longer has', async () => {
  const after = await identities();
  const gone = before.entries().filter(([path, uid]) => after.get(path) !== uid);
  expect([...gone].map(([path]) => path)).toEqual(['ServiceAccount/default/former-stuck']);
  // No pod was rolled.
  expect(await rolloutsOf('former-app')).toBe('1');
});

test('what is installed is what the pin says, not what the tag has become', async () => {
  expect(await dataOf('former-app')).toEqual({ version: '2', dropped: 'x' });
  expect(await dataOf('former-stuck')).toEqual({ version: '2' });
  expect(await kubectl.exists('configmap', 'former-moved', 'default')).toBe(false);
});

test('drift is repaired', async () => {
  const flags = ['--namespace=default', '--type=merge', '-p', '{"data":{"version":"drifted"}}'];
  await kubectl.must(['patch', 'configmap', 'former-app', ...flags]);
  await eventually(async () => expect(await dataOf('former-app')).toMatchObject({ version: '2' }));
});

test('a deployment whose upload is lost keeps what it has', async () => {
  const bundle = await eventually(async () => {
    const [found] = await kubectl.list('bundles', 'core.rukpak.io/owner-name=former-upload');
    expect(found?.['status']).toMatchObject({ phase: 'Pending' });
    return found;
  });
  await eventually(async () => {
    const found = await deployment('former-upload');
    expect(conditionOf(found, 'HasValidBundle')).toMatchObject({ reason: 'UnpackPending' });
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
    expect(found['status']).toMatchObject({ activeBundle: bundle?.metadata.name });
  });
  expect(await dataOf('former-upload')).toEqual({ a: '1' });
});

test('a chart has the values that it had, and follows others', async () => {
  expect(await dataOf('former-chart')).toEqual({ color: 'blue', size: 'small' });
  const patch = JSON.stringify({ spec: { config: { values: { size: 'large' } } } });
  await kubectl.must(['patch', 'bundledeployment', 'former-chart', '--type=merge', '-p', patch]);
  await eventually(async () => {
    expect(await dataOf('former-chart')).toEqual({ color: 'red', size: 'large' });
  });
});

test('the next version drops fields, objects and kinds; kept objects stay', async () => {
  const source = await pushed({ registry, name: 'former-app', files: plainFiles(versions[3]) });
  const template = templateOf('plain', source);
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/template', value: template }]);
  await kubectl.must(['patch', 'bundledeployment', 'former-app', '--type=json', '-p', patch]);
  await eventually(async () => {
    expect(await dataOf('former-app')).toEqual({ version: '3' });
    expect(await kubectl.exists('serviceaccount', 'former-app', 'default')).toBe(false);
    expect(await kubectl.exists('secret', 'former-app', 'default')).toBe(false);
    await takenOver('former-app');
  });
  const app = await kubectl.get('deployment', 'former-app', 'default');
  expect(await rolloutsOf('former-app')).toBe('2');
  expect(JSON.stringify(app['spec'])).not.toContain('DROPPED');
  const kept = await kubectl.get('configmap', 'former-kept', 'default');
  expect(kept.metadata.ownerReferences).toBeUndefined();
  const after = await identities();
  for (const path of ['ConfigMap/default/former-app', 'Service/default/former-app']) {
    expect(after.get(path)).toBe(before.get(path));
  }
});

test('release Secrets go on request, of what we have installed', async () => {
  const remove = 'rukpakctl remove-helm-releases';
  await expect(runCommand(howto, `${remove} former-app former-upload`)).rejects.toThrow(
    'BundleDeployment "former-upload" has not been taken over from RukPak, and still needs its ' +
      'release Secrets: nothing was deleted',
  );
  const output = await followHowto(howto, 'After');
  const secret = (name: string) => `secret "sh.helm.release.v1.${name}" deleted`;
  const names = [
    'former-app.v2',
    'former-app.v1',
    'former-chart.v1',
    'former-operator.v1',
    'former-stuck.v2',
    'former-stuck.v1',
  ];
  for (const name of names) {
    expect(output).toContain(`${secret(name)} (dry run)\n`);
    expect(output).toContain(`${secret(name)}\n`);
  }
  const skipped =
    'skipped: has not been taken over from RukPak, and still needs its release Secrets';
  expect(output).toContain(`bundledeployment.core.rukpak.io "former-upload" ${skipped}\n`);
  const left = await kubectl.list('secrets', releases);
  expect(left.map(({ metadata }) => metadata.name)).toEqual([
    'sh.helm.release.v1.former-upload.v1',
  ]);
  await takenOver('former-app');
});

test('no right was missing', () => {
  for (const log of system.logs) expect(log).not.toMatch(/forbidden/i);
});
