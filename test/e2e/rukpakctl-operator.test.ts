import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { pushTestCatalog, type TestOperator } from '../helpers/mirrored-catalog.ts';
import { plane } from '../helpers/plane.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';
import { System } from '../helpers/system.ts';
import { workerPorts } from '../helpers/worker-ports.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const operators = 'operators.operators.operatorframework.io';
const page = 'operator-command.md';

let system: System;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpakctl-operator-'));
  const [port] = await workerPorts(1);
  system = await System.start({
    kubeconfig,
    registry,
    installFlags: ['--operators'],
    flags: [`--catalogs-server-addr=127.0.0.1:${port}`, `--cache-dir=${join(dir, 'content')}`],
  });
  const metadata = {
    displayName: 'Painter',
    annotations: { description: 'Paints walls in each colour.' },
    keywords: ['colour', 'wall'],
    provider: { name: 'Example' },
    installModes: [{ type: 'AllNamespaces', supported: true }],
  };
  const painter = { name: 'painter', versions: ['1.0.0', '1.1.0', '1.2.0', '2.0.0'], metadata };
  const plumber = { name: 'plumber', versions: ['1.0.0', '1.1.0', '2.0.0'] };
  await kubectl.apply(
    {
      apiVersion: 'catalogd.operatorframework.io/v1alpha1',
      kind: 'Catalog',
      metadata: { name: 'community' },
      spec: { source: { type: 'image', image: { ref: await catalogOf(painter) } } },
    },
    {
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterCatalog',
      metadata: { name: 'certified' },
      spec: { source: { type: 'Image', image: { ref: await catalogOf(plumber) } } },
    },
  );
  await eventually(async () => {
    for (const [kind, name] of [
      ['catalog', 'community'],
      ['clustercatalog', 'certified'],
    ] as const) {
      const object = await kubectl.get(kind, name);
      expect(conditionOf(object, 'Ready')).toMatchObject({ status: 'True' });
    }
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

async function catalogOf(operator: TestOperator): Promise<string> {
  const catalog = `rukpakctl-operator/catalogs/${operator.name}:v1`;
  return await pushTestCatalog({ registry, prefix: 'e2e/', catalog }, [operator]);
}

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(['operator', ...args], { env: { KUBECONFIG: kubeconfig } });
}

async function follow(heading: string): Promise<string> {
  return await followHowto({ page, kubectl, kubeconfig }, heading);
}

describe('a ClusterExtension', () => {
  const kind = 'clusterextension';

  test('is not created for a package that no ClusterCatalog has', async () => {
    const flags = ['--cluster-extension', '--namespace=default'];
    const unknown = await ctl('install', 'plumer', ...flags);
    expect(unknown.stderr).toContain('no catalog has package "plumer": did you mean "plumber"?');
    const impossible = await ctl('install', 'plumber', '--version=9', ...flags);
    expect(impossible.stderr).toContain('nothing is created: Package "plumber" has 3 bundles');
    expect(await kubectl.list(kind)).toEqual([]);
  });

  test('is upgraded step by step, and keeps the fields of others', async () => {
    const flags = ['--cluster-extension', '--namespace=default', '--watch'];
    expect(await ctl('install', 'plumber', '--version=1.0.0', ...flags)).toMatchObject({ code: 0 });
    const version = {
      catalog: { packageName: 'plumber', version: '1.0.0' },
      sourceType: 'Catalog',
    };
    const theirs = {
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterExtension',
      metadata: { name: 'plumber' },
      spec: { namespace: 'default', progressDeadlineMinutes: 30, source: version },
    };
    const apply = ['apply', '--server-side', '--field-manager=gitops', '--filename=-'];
    await kubectl.must(apply, JSON.stringify(theirs));
    const path = await ctl('path', 'plumber', '--to=2.0.0', '--output=json');
    const edges = { channel: 'stable', edge: 'replaces', catalog: 'certified' };
    expect(JSON.parse(path.stdout)).toMatchObject({
      from: '1.0.0',
      path: { kind: 'path', steps: [{ version: '1.1.0', ...edges }, { version: '2.0.0' }] },
    });
    const refused = await ctl('upgrade', 'plumber', '--to=2.0.0');
    expect(refused.stderr).toContain('begin with rukpakctl operator upgrade plumber --to 1.1.0');
    const upgraded = await ctl('upgrade', 'plumber', '--to=2.0.0', '--watch');
    expect(upgraded).toMatchObject({ code: 0 });
    expect(upgraded.stderr).toContain(
      'Warning: field manager "gitops" has applied these fields too, and may set them back\n',
    );
    for (const each of ['1.1.0', '2.0.0']) {
      expect(upgraded.stdout).toContain(
        `ClusterExtension "plumber": ${each} is installed: Healthy`,
      );
    }
    const { spec } = await kubectl.get(kind, 'plumber');
    expect(spec).toMatchObject({
      progressDeadlineMinutes: 30,
      source: { catalog: { version: '2.0.0' } },
    });
  });

  test('is explained, and what is completed comes from the cluster', async () => {
    const explained = await ctl('explain', 'clusterextension/plumber', '--output=json');
    expect(JSON.parse(explained.stdout)).toMatchObject({
      of: 'ClusterExtension/plumber',
      installed: { version: '2.0.0' },
      selected: { name: 'plumber.v2.0.0', version: '2.0.0', catalog: 'certified' },
      explanation: { asked: expect.stringContaining('package "plumber" in version range "2.0.0"') },
    });
    for (const [words, names] of [
      [
        ['install', 'p'],
        ['painter', 'plumber'],
      ],
      [['install', 'painter', '--channel', ''], ['stable']],
      [
        ['upgrade', 'plumber', '--to', '1'],
        ['1.1.0', '1.0.0'],
      ],
      [['explain', ''], ['plumber']],
    ] as const) {
      const { stdout } = await rukpakctl(['__complete', 'operator', ...words], {
        env: { KUBECONFIG: kubeconfig },
      });
      expect(stdout.split('\n').slice(0, -2)).toEqual(names);
    }
  });

  test('is deleted after a dry run that deletes nothing', async () => {
    const dry = await ctl('uninstall', 'plumber', '--dry-run');
    expect(dry.stdout).toBe(
      'ClusterExtension "plumber" is deleted, and with it:\n  BundleDeployment/plumber\n  Deployment/default/plumber\n',
    );
    expect(await ctl('uninstall', 'plumber')).toMatchObject({ code: 1 });
    const deleted = await ctl('uninstall', 'plumber', '--yes', '--output=json');
    expect(JSON.parse(deleted.stdout)).toMatchObject({
      of: 'ClusterExtension/plumber',
      deletes: [{ kind: 'BundleDeployment' }, { kind: 'Deployment' }],
      deleted: true,
    });
    expect(await kubectl.exists(kind, 'plumber')).toBe(false);
  });
});

describe('the howto', () => {
  test('finds a package', async () => {
    const output = await follow('Find a package');
    expect(output).toContain(
      'painter  2.0.0    catalog/community  stable*   All    Paints walls in each colour.\n',
    );
    expect(output).toContain('Channel stable:   2.0.0, 1.2.0, 1.1.0, 1.0.0\n');
    expect(output).toContain('Install modes:    AllNamespaces\n');
  });

  test('installs a package', async () => {
    const output = await follow('Install a package');
    expect(output).toMatch(
      /^operator\.operators\.operatorframework\.io "painter" created\n(?:.*\n)*Operator "painter": 1\.0\.0 is installed: Healthy\n/,
    );
    expect(output).toMatch(/\nOperator +painter +painter +1\.0\.0 +2\.0\.0 +True +Healthy\n$/);
  });

  test('an installation changes no existing operator', async () => {
    const same = 'operator.operators.operatorframework.io "painter" unchanged\n';
    expect(await ctl('install', 'painter')).toMatchObject({ code: 0, stdout: same });
    const other = await ctl('install', 'painter', '--version=2');
    expect(other.stderr).toContain('Operator "painter" exists and has another spec.version: ');
    const foreign = await ctl('install', 'plumber', '--name=painter');
    expect(foreign.stderr).toContain('Operator "painter" exists and is of package "painter": ');
    const { spec } = await kubectl.get(operators, 'painter');
    expect(spec).toMatchObject({ packageName: 'painter', version: '1.0.0' });
  });

  test('an upgrade without a path changes nothing', async () => {
    const { code, stderr } = await ctl('upgrade', 'painter', '--to=2.0.0');
    expect(code).toBe(1);
    expect(stderr).toContain('nothing is changed: Package "painter" has 4 bundles in "community".');
    const { spec } = await kubectl.get(operators, 'painter');
    expect(spec).toMatchObject({ version: '1.0.0' });
  });

  test('upgrades along a path, explains what is none, and forces it', async () => {
    const output = await follow('Upgrade an operator');
    for (const text of [
      'painter 1.0.0 to 1.2.0: 1 upgrade\n  1.  1.2.0  catalog community\n',
      'Upgrade 1.0.0 to 1.2.0:\n',
      'Operator "painter": 1.2.0 is installed: Healthy\n',
      'Operator/painter: 1.2.0 is installed, nothing is selected\n',
      '  - a breaking change from 1.2.0: 2.0.0 (community)\n',
      '  - Allow 1.x: catalog "community" has 1.2.0.\n',
      'changed to version "2.0.0"\nupgradeConstraintPolicy is Ignore now: ',
      'Operator "painter": 2.0.0 is installed: Healthy\n',
    ]) {
      expect(output).toContain(text);
    }
  });

  test('uninstalls an operator', async () => {
    const output = await follow('Uninstall an operator');
    expect(output).toContain('  BundleDeployment/painter\n  Namespace/painter-system ');
    expect(await kubectl.exists(operators, 'painter')).toBe(false);
    expect(await kubectl.exists('bundledeployment', 'painter')).toBe(false);
  });
});
