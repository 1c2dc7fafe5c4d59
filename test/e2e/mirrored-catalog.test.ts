// @module-tag long
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { realBundleDirectory, realBundlesArePresent } from '../helpers/real-bundles.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { System } from '../helpers/system.ts';

const present = realBundlesArePresent();
const operatorKind = 'operators.operators.operatorframework.io';
const operators = [
  {
    name: 'infinispan',
    version: '2.2.1',
    images: ['infinispan/operator:2.2.1.Final', 'infinispan/server:13.0.1.Final'],
  },
  {
    name: 'deployment-validation-operator',
    version: '0.2.2',
    images: ['deployment-validation-operator/dv-operator:0.2.2'],
  },
] as const;
const [{ name: operator }, { name: extension }] = operators;
const other = { name: 'debezium-operator', version: '2.4.0' };

let dir: string;
/** What the connected side calls quay.io. */
let internet: OwnRegistry;
let mirror: OwnRegistry;
let kubectl: Kubectl;
let system: System | undefined;

beforeAll(async () => {
  if (!present) return;
  dir = await mkdtemp(join(tmpdir(), 'rukpak-disconnected-'));
  for (const name of ['internet', 'mirror']) await mkdir(join(dir, name));
  internet = await OwnRegistry.start({ dir: join(dir, 'internet') });
  mirror = await OwnRegistry.start({ dir: join(dir, 'mirror') });
  await writeFile(
    join(dir, 'connected.conf'),
    `[[registry]]
location = "quay.io"
[[registry.mirror]]
location = "${internet.host}"
insecure = true
`,
  );
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
});

afterAll(async () => {
  if (!present) return;
  await kubectl.deleteAll(`${operatorKind},clusterextensions`, {
    wait: false,
    ignoreNotFound: true,
  });
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteAll('catalogs,clustercatalogs', { ignoreNotFound: true });
  await kubectl.deleteNamed('namespace', [extension], { wait: false, ignoreNotFound: true });
  await system?.stop();
  await removeOperatorCrds(plane.kubeconfig);
  await internet.stop();
  await mirror.stop();
  await rm(dir, { recursive: true, force: true });
});

async function ctl(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await rukpakctl(args);
  if (code !== 0) throw new Error(`rukpakctl ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}

async function connected(...args: readonly string[]): Promise<string> {
  return await ctl(...args, '--registries-conf', join(dir, 'connected.conf'));
}

/** A catalog of operators on the connected side, whose images are all at quay.io. */
async function publish(): Promise<void> {
  const { host: registry } = internet;
  for (const image of operators.flatMap(({ images }) => images)) {
    const [repository = '', tag = ''] = image.split(':');
    await pushImage({ registry, repository, tag, layers: [{ files: { program: image } }] });
  }
  const catalog = join(dir, 'catalog');
  for (const { name, version } of [...operators, other]) {
    const folder = realBundleDirectory(`${name}/${version}`);
    const to = `${registry}/community/${name}:${version}`;
    const built = await ctl('bundle', 'build', folder, '--to', to, '--insecure-registry', registry);
    const [digest = ''] = /sha256:[0-9a-f]{64}/.exec(built) ?? [];
    const bundle = `quay.io/community/${name}@${digest}`;
    const blobs = await connected('catalog', 'render', bundle, '--output', 'json');
    const { name: entry } = JSON.parse(blobs) as { readonly name: string };
    const channel = { schema: 'olm.channel', package: name, name: 'stable' };
    await mkdir(join(catalog, name), { recursive: true });
    await writeFile(
      join(catalog, name, 'catalog.json'),
      [
        JSON.stringify({ schema: 'olm.package', name, defaultChannel: 'stable' }),
        JSON.stringify({ ...channel, entries: [{ name: entry }] }),
        blobs,
      ].join('\n'),
    );
  }
  const to = `${registry}/community/catalog:v1`;
  await ctl('catalog', 'build', catalog, '--to', to, '--insecure-registry', registry);
}

test.skipIf(!present)(
  'two operators of a mirrored catalog install where only the mirror can be reached',
  async () => {
    await publish();
    const imageSet = {
      kind: 'ImageSetConfiguration',
      apiVersion: 'mirror.openshift.io/v2alpha1',
      mirror: {
        operators: [
          {
            catalog: 'quay.io/community/catalog:v1',
            packages: operators.map(({ name }) => ({ name })),
          },
        ],
      },
    };
    const config = join(dir, 'imageset.yaml');
    await writeFile(config, JSON.stringify(imageSet));
    const results = join(dir, 'results');
    const filled = await connected(
      'mirror',
      '--config',
      config,
      '--to',
      join(dir, 'filled'),
      '--results',
      results,
    );
    expect(filled).toContain('6 mirrored, 0 failed');
    // The air gap: the internet is gone, and the directory is on another disk.
    await internet.stop();
    await cp(join(dir, 'filled'), join(dir, 'carried'), { recursive: true });
    await rm(join(dir, 'filled'), { recursive: true });
    const place = `${mirror.host}/disconnected`;
    const hosts = ['--insecure-registry', mirror.host];
    const pushed = await ctl(
      'mirror',
      '--from',
      join(dir, 'carried'),
      '--to',
      place,
      '--results',
      results,
      ...hosts,
    );
    expect(pushed).toContain('6 mirrored, 0 failed');

    // What `mirror` wrote is all that the cluster learns of the mirror.
    system = await System.start({
      kubeconfig: plane.kubeconfig,
      registry: plane.registry,
      installFlags: ['--operators'],
      flags: [`--registries-conf=${join(results, 'registries.conf')}`],
    });
    await kubectl.must(['apply', '-f', join(results, 'catalog.yaml')]);
    await kubectl.apply({
      apiVersion: 'operators.operatorframework.io/v1alpha1',
      kind: 'Operator',
      metadata: { name: operator },
      spec: { packageName: operator },
    });
    await isHealthy(operatorKind, operator);
    await kubectl.must(['delete', '-f', join(results, 'catalog.yaml'), '--timeout=600s']);

    await kubectl.must(['apply', '-f', join(results, 'clustercatalog.yaml')]);
    await kubectl.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: extension } },
      {
        apiVersion: 'olm.operatorframework.io/v1',
        kind: 'ClusterExtension',
        metadata: { name: extension },
        spec: {
          namespace: extension,
          source: { sourceType: 'Catalog', catalog: { packageName: extension } },
        },
      },
    );
    await isHealthy('clusterextension', extension);
  },
);

async function isHealthy(kind: string, name: string): Promise<void> {
  await eventually(async () => {
    const object = await kubectl.get(kind, name);
    expect(conditionOf(object, 'Installed')).toMatchObject({ status: 'True' });
    expect(conditionOf(object, 'Ready')).toMatchObject({ status: 'True' });
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
  }, patiently);
  const owned = `core.rukpak.io/owner-name=${name}`;
  expect(await kubectl.list('deployments', owned)).toHaveLength(1);
}
