import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageBlobs } from '../helpers/catalog-reconciler-fixture.ts';
import { eventually } from '../helpers/eventually.ts';
import { ForwardingNode } from '../helpers/forwarding-node.ts';
import { catalogsHost, InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { plane } from '../helpers/plane.ts';
import { pushCatalog } from '../helpers/push-catalog.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { secretData } from '../helpers/secret-volume.ts';
import { tlsGet } from '../helpers/tls-request.ts';

const namespace = 'rukpak-system';
const lease = 'operators.rukpak.io';
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const ref = `${plane.registry}/operators-in-cluster/catalog:v1`;

let system: InClusterSystem;
let first: LocalPod;
let second: LocalPod;
let node: ForwardingNode | undefined;

const catalogs = [
  {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name: 'in-cluster' },
    spec: { source: { type: 'image', image: { ref } } },
  },
  {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name: 'in-cluster' },
    spec: { source: { type: 'Image', image: { ref } } },
  },
];

beforeAll(async () => {
  await pushCatalog(ref, { 'shop.json': packageBlobs('shop') });
  system = await InClusterSystem.install({
    kubectl,
    registry: plane.registry,
    overlay: 'operators',
  });
  await system.startWebhooks();
  first = await system.startOperators();
  second = await system.startOperators();
});

afterAll(async () => {
  await kubectl.delete(catalogs);
  // Before the node: a pod whose node is gone is collected a minute later.
  await system?.remove();
  await node?.remove();
});

test('its pods are admitted', async () => {
  const place = [`--namespace=${namespace}`, '--timeout=300s'];
  await kubectl.must(['rollout', 'status', 'deployment/rukpak-operators', ...place]);
});

test('the process may read no list of Secrets, make no Operators, and delete nothing', async () => {
  const user = `--as=system:serviceaccount:${namespace}:rukpak-operators`;
  const canI = async (...what: readonly string[]) =>
    (await kubectl.run(['auth', 'can-i', ...what, user, '-n', namespace])).stdout.trim();
  expect(await canI('get', 'secret/any')).toBe('yes');
  expect(await canI('list', 'secrets')).toBe('no');
  expect(await canI('create', 'bundledeployments')).toBe('yes');
  const operators = 'operators.operators.operatorframework.io';
  for (const kind of ['bundledeployments', 'catalogs', 'clustercatalogs', 'clusterextensions']) {
    expect(await canI('delete', kind)).toBe('no');
  }
  expect([await canI('create', operators), await canI('delete', operators)]).toEqual(['no', 'no']);
  expect(await canI('create', 'pods')).toBe('no');
});

test('rukpakctl verify looks at its CRDs, its account, its Deployment and its leader', async () => {
  await eventually(async () => {
    const { stdout } = await rukpakctl(['verify'], { env: { KUBECONFIG: plane.kubeconfig } });
    for (const name of [
      'catalogs.catalogd.operatorframework.io',
      'operators.operators.operatorframework.io',
      'clustercatalogs.olm.operatorframework.io',
      'clusterextensions.olm.operatorframework.io',
    ]) {
      expect(stdout).toContain(`ok       CRD ${name}: established, of this version\n`);
    }
    expect(stdout).toMatch(
      new RegExp(`^ok {7}ServiceAccount ${namespace}/rukpak-operators: .* all granted$`, 'm'),
    );
    expect(stdout).toMatch(
      /^ok {7}ServiceAccount \S+, --install-dependencies: is not used, and its permissions are not granted$/m,
    );
    expect(stdout).toMatch(
      new RegExp(`^ok {7}Deployment ${namespace}/rukpak-operators: Deployment is available`, 'm'),
    );
    expect(stdout).toMatch(new RegExp(`^ok {7}Lease ${lease}: held by `, 'm'));
  });
});

test('each replica serves catalogs over TLS, at the address that their status names', async () => {
  await kubectl.apply(...catalogs);
  await eventually(async () => {
    const catalog = await kubectl.get('catalog', 'in-cluster');
    expect(conditionOf(catalog, 'Unpacked')?.status).toBe('True');
    expect(catalog['status']).toMatchObject({
      contentURL: `https://${catalogsHost}/catalogs/in-cluster/all.json`,
    });
    const cluster = await kubectl.get('clustercatalog', 'in-cluster');
    expect(conditionOf(cluster, 'Serving')?.status).toBe('True');
    expect(cluster['status']).toMatchObject({
      urls: { base: `https://${catalogsHost}/catalogs/in-cluster` },
    });
  });
  const { 'ca.crt': ca = '' } = await secretData(kubectl, 'rukpak-catalogs-cert');
  for (const pod of [first, second]) {
    const server = { port: pod.ports[1] ?? 0, servername: catalogsHost, ca };
    for (const path of ['all.json', 'api/v1/all']) {
      await eventually(async () => {
        const { status, body } = await tlsGet(server, `/catalogs/in-cluster/${path}`);
        expect([status, body.toString().split('\n').length]).toEqual([200, 4]);
      });
    }
  }
});

test('rukpakctl operator reads the catalogs of both kinds through the API server, over TLS', async () => {
  node = await ForwardingNode.start({
    kubectl,
    kubeconfig: plane.kubeconfig,
    clusterDir: plane.clusterDir,
    name: 'operators-in-cluster',
    forwards: { 8083: first.ports[1] ?? 0 },
  });
  await node.take(namespace, 'rukpak-operators');
  const env = { KUBECONFIG: plane.kubeconfig };
  const { stdout, stderr } = await rukpakctl(['operator', 'search'], { env });
  expect(stderr).toBe('');
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
    ['NAME', 'VERSION', 'CATALOG', 'CHANNELS'],
    ['shop', '1.0.0', 'catalog/in-cluster', 'stable*'],
    ['shop', '1.0.0', 'clustercatalog/in-cluster', 'stable*'],
    [''],
  ]);
});

test('one leads, its metrics say so, and the other takes over', async () => {
  const leads = async (pod: LocalPod): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${pod.ports[2]}/metrics`);
    const text = await answer.text();
    expect(text).toMatch(/^controller_runtime_reconcile_total\{controller="catalog",/m);
    const [, value] =
      /^leader_election_master_status\{name="operators\.rukpak\.io"\} (\d)$/m.exec(text) ?? [];
    return value === '1';
  };
  const holder = async (): Promise<string> => {
    const { spec } = await kubectl.get('lease', lease, namespace);
    return (spec as { holderIdentity: string }).holderIdentity;
  };
  const before = await eventually(holder);
  const firstLeads = await leads(first);
  expect(await leads(second)).toBe(!firstLeads);
  const [leader, follower] = firstLeads ? [first, second] : [second, first];
  expect(await leader.end('SIGTERM')).toBe(0);
  await eventually(async () => {
    expect(await leads(follower)).toBe(true);
    expect(await holder()).not.toBe(before);
  });
});
