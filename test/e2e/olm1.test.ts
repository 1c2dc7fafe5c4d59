import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { pushTestCatalog } from '../helpers/mirrored-catalog.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
/** By its group: OLM v0 has a kind of this name too. */
const operators = 'operators.operators.operatorframework.io';

let system: System;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-olm1-'));
  const [port] = await workerPorts(1);
  system = await System.start({
    kubeconfig,
    registry,
    installFlags: ['--operators'],
    flags: [`--catalogs-server-addr=127.0.0.1:${port}`, `--cache-dir=${join(dir, 'content')}`],
  });
});

afterAll(async () => {
  for (const kind of [operators, 'clusterextensions']) {
    await kubectl.deleteAll(kind, { wait: false, ignoreNotFound: true });
  }
  await eventually(async () => expect(await kubectl.list('bundledeployments')).toEqual([]));
  for (const kind of ['catalogs', 'clustercatalogs']) {
    await kubectl.deleteAll(kind);
  }
  await system.stop();
  await removeOperatorCrds(kubeconfig);
  await rm(dir, { recursive: true, force: true });
});

async function aCatalog(name: string, ...versions: readonly string[]): Promise<string> {
  const catalog = `olm1/catalogs/${name}:v1`;
  const painter = { name: `${name}-painter`, versions };
  return await pushTestCatalog({ registry, prefix: 'e2e/', catalog }, [painter]);
}

/** What a catalog has is known when it is unpacked. */
async function unpacked(kind: string, name: string, type: string): Promise<void> {
  await eventually(async () => {
    const object = await kubectl.get(kind, name);
    expect(conditionOf(object, type)).toMatchObject({ status: 'True' });
  });
}

describe('a Catalog and its Operators', () => {
  const name = 'operator-painter';
  const spec = { packageName: name };
  const apply = async (more: object, metadata = { name }, packageName = name) =>
    await kubectl.apply({
      apiVersion: 'operators.operatorframework.io/v1alpha1',
      kind: 'Operator',
      metadata,
      spec: { ...spec, packageName, ...more },
    });

  async function installed(version: string): Promise<void> {
    await eventually(async () => {
      const operator = await kubectl.get(operators, name);
      expect(conditionOf(operator, 'Installed')).toMatchObject({ status: 'True' });
      expect(conditionOf(operator, 'Ready')).toMatchObject({ status: 'True' });
      expect(operator['status']).toMatchObject({ installed: { version } });
      const deployment = await kubectl.get('bundledeployment', name);
      expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
    });
  }

  beforeAll(async () => {
    const ref = await aCatalog('operator', '1.0.0', '1.1.0', '2.0.0');
    await kubectl.apply({
      apiVersion: 'catalogd.operatorframework.io/v1alpha1',
      kind: 'Catalog',
      metadata: { name: 'olm1' },
      spec: { source: { type: 'image', image: { ref } } },
    });
    await unpacked('catalog', 'olm1', 'Unpacked');
  });

  test('a pinned version is installed to Healthy, and says what is newer', async () => {
    await apply({ version: '1.0.0' });
    await installed('1.0.0');
    const { status } = await kubectl.get(operators, name);
    expect(status).toMatchObject({ available: { version: '2.0.0' } });
    const table = await kubectl.must(['get', operators, name]);
    expect(table).toMatch(/NAME +AGE +INSTALLED +AVAILABLE +READY +REASON\n.* 1\.0\.0 +2\.0\.0 /);
  });

  test('a range is upgraded within its major version', async () => {
    await apply({ version: '>=1.0.0' });
    await installed('1.1.0');
  });

  test('an impossible Operator says why, and leaves the other alone', async () => {
    const conditions = async () => {
      const operator = await kubectl.get(operators, name);
      return ['Resolved', 'Installed'].map((type) => conditionOf(operator, type));
    };
    const before = await conditions();
    await apply({}, { name: 'operator-impossible' }, 'nobody-has-this');
    await eventually(async () => {
      const impossible = await kubectl.get(operators, 'operator-impossible');
      expect(conditionOf(impossible, 'Resolved')).toMatchObject({
        status: 'False',
        reason: 'ResolutionFailed',
        message: 'no package "nobody-has-this" found',
      });
    });
    expect(await conditions()).toEqual(before);
    await kubectl.deleteNamed(operators, ['operator-impossible']);
  });

  test('the CRD is not deleted while there are Operators, which it would take along', async () => {
    const { code, stderr } = await kubectl.run(['delete', 'crd', operators, '--wait=false']);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `refusing to delete CustomResourceDefinition "${operators}": 1 Operator exists`,
    );
  });

  test('what is installed stays when its catalog goes, and goes with its Operator', async () => {
    await kubectl.deleteNamed('catalog', ['olm1']);
    await eventually(async () => {
      const operator = await kubectl.get(operators, name);
      expect(conditionOf(operator, 'Resolved')).toMatchObject({ status: 'False' });
      expect(conditionOf(operator, 'Installed')).toMatchObject({ status: 'True' });
    });
    const deployments = `core.rukpak.io/owner-name=${name}`;
    expect(await kubectl.list('deployments', deployments)).toHaveLength(1);
    await kubectl.deleteNamed(operators, [name]);
    await eventually(async () => {
      expect(await kubectl.exists('bundledeployment', name)).toBe(false);
      expect(await kubectl.list('deployments', deployments)).toEqual([]);
    });
  });
});

describe('a ClusterCatalog and a ClusterExtension', () => {
  const name = 'extension-painter';

  beforeAll(async () => {
    const ref = await aCatalog('extension', '1.0.0', '2.0.0');
    await kubectl.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: name } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'cluster-admin',
        },
        subjects: [{ kind: 'ServiceAccount', name, namespace: name }],
      },
      {
        apiVersion: 'olm.operatorframework.io/v1',
        kind: 'ClusterCatalog',
        metadata: { name: 'olm1' },
        spec: { source: { type: 'Image', image: { ref } } },
      },
    );
    await unpacked('clustercatalog', 'olm1', 'Serving');
  });

  afterAll(async () => {
    await kubectl.deleteNamed('clusterextension', [name], { ignoreNotFound: true });
    await eventually(async () => {
      expect(await kubectl.exists('bundledeployment', name)).toBe(false);
    });
    await kubectl.deleteNamed('clusterrolebinding', [name]);
    await kubectl.deleteNamed('namespace', [name], { wait: false });
  });

  test('is installed with its account, and upgraded along the graph', async () => {
    const apply = async (version: string) =>
      await kubectl.apply({
        apiVersion: 'olm.operatorframework.io/v1',
        kind: 'ClusterExtension',
        metadata: { name },
        spec: {
          namespace: name,
          serviceAccount: { name },
          source: { sourceType: 'Catalog', catalog: { packageName: name, version } },
        },
      });
    const installed = async (version: string) =>
      await eventually(async () => {
        const extension = await kubectl.get('clusterextension', name);
        expect(conditionOf(extension, 'Installed')).toMatchObject({
          status: 'True',
          reason: 'Succeeded',
        });
        expect(extension['status']).toMatchObject({
          install: { bundle: { name: `${name}.v${version}`, version } },
        });
        expect(conditionOf(extension, 'Progressing')).toMatchObject({ reason: 'Succeeded' });
      });
    await apply('1.0.0');
    await installed('1.0.0');
    const { spec } = await kubectl.get('bundledeployment', name);
    expect(spec).toMatchObject({
      installNamespace: name,
      serviceAccount: { name, namespace: name },
    });
    await apply('>=1.0.0');
    await installed('2.0.0');
    const running = await kubectl.list('deployments', `core.rukpak.io/owner-name=${name}`);
    expect(running.map(({ metadata }) => metadata.namespace)).toEqual([name]);
  });
});
