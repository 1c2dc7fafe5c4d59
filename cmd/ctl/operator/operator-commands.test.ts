import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { catalogResource } from '../../../api/catalogd/v1alpha1/index.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { clusterCatalogResource, clusterExtensionResource } from '../../../api/olm/v1/index.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import {
  aClusterExtension,
  anOperator,
  installedDeployment,
} from '../../../test/helpers/extension-fixture.ts';
import { FakeApiServer } from '../../../test/helpers/fake-api-server.ts';
import {
  aServedCatalog,
  aServedClusterCatalog,
  packageOf,
} from '../../../test/helpers/remote-catalogs.ts';
import { type CtlResult, rukpakctl } from '../../../test/helpers/rukpakctl.ts';

let api: FakeApiServer;
let server: Server;
let seen: IncomingHttpHeaders[];
/** What the server of catalogs sends, whatever is asked. */
let content: string;

beforeAll(async () => {
  api = await FakeApiServer.start();
  server = createServer((request, response) => {
    seen.push(request.headers);
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await api.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

beforeEach(() => {
  seen = [];
  api.reset();
  api.serve(operatorResource, clusterExtensionResource, catalogResource, clusterCatalogResource);
  api.serve(bundleDeploymentResource);
  content = linesOf(packageOf('painter', { versions: ['1.0.0', '1.1.0'] }));
});

function linesOf(blobs: readonly object[]): string {
  return blobs.map((blob) => `${JSON.stringify(blob)}\n`).join('');
}

/** A Catalog that the server has, or another address. */
function putCatalog(name: string, address?: string): void {
  const { port } = server.address() as AddressInfo;
  const catalog = aServedCatalog(name);
  const contentURL = `${address ?? `http://127.0.0.1:${port}`}/catalogs/${name}/all.json`;
  const status = { ...(catalog['status'] as object), contentURL };
  api.put(catalogResource, { ...catalog, status });
}

/** An Operator whose condition Ready is False. */
function putOperator(reason: string, message: string): void {
  const ready = { type: 'Ready', status: 'False', reason, message, observedGeneration: 1 };
  const operator: KubernetesObject = { ...anOperator(), status: { conditions: [ready] } };
  api.put(operatorResource, operator);
}

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(['operator', ...args], { env: { KUBECONFIG: api.kubeconfig } });
}

describe('a cluster without the kinds of OLM 1.0', () => {
  test.each([
    ['search'],
    ['info', 'painter'],
    ['list'],
    ['install', 'painter'],
    ['explain', 'painter'],
    ['path', 'painter', '--to=1.0.0', '--from=0.1.0'],
  ])('is named by %s', async (...args) => {
    api.reset();
    const { code, stdout, stderr } = await ctl(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      'the cluster serves neither Operators nor ClusterExtensions: install with "rukpak install --operators"\n',
    );
  });

  test('with ClusterExtensions alone needs a flag', async () => {
    api.reset();
    api.serve(clusterExtensionResource);
    const { stderr } = await ctl('install', 'painter');
    expect(stderr).toContain(
      'the cluster does not serve kind Operator: pass --cluster-extension and --namespace\n',
    );
  });
});

describe('catalogs', () => {
  test('get no credentials', async () => {
    putCatalog('a');
    expect(await ctl('search')).toMatchObject({ code: 0, stderr: '' });
    expect(seen.length).toBeGreaterThan(0);
    for (const headers of seen) {
      expect(Object.keys(headers).sort()).toEqual([
        'accept-encoding',
        'connection',
        'host',
        'user-agent',
      ]);
    }
  });

  test('that cannot be read are named, and the others answer', async () => {
    putCatalog('a');
    putCatalog('b', 'http://127.0.0.1:1');
    const { code, stdout, stderr } = await ctl('search');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^painter +1\.1\.0 +catalog\/a +stable\*, old +- +-$/m);
    const found = JSON.parse((await ctl('search', '--output=json')).stdout) as object;
    expect(found).toMatchObject({ unread: [{ catalog: { kind: 'Catalog', name: 'b' } }] });
    expect(stderr).toMatch(
      /^Warning: Catalog "b" cannot be read: http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*\n$/,
    );
  });

  test('say which install modes a package supports', async () => {
    const modes = { AllNamespaces: true, OwnNamespace: true, SingleNamespace: false };
    const installModes = Object.entries(modes).map(([type, supported]) => ({ type, supported }));
    content = linesOf(packageOf('painter', { metadata: { installModes } }));
    putCatalog('a');
    const { stdout } = await ctl('search');
    expect(stdout).toMatch(/^NAME .* MODES +DESCRIPTION$/m);
    expect(stdout).toMatch(/^painter .* All, Own +-$/m);
    expect(JSON.parse((await ctl('search', '-o', 'json')).stdout)).toMatchObject({
      packages: [{ installModes: ['AllNamespaces', 'OwnNamespace'] }],
    });
  });

  test('none of which can be read are an error', async () => {
    putCatalog('b', 'http://127.0.0.1:1');
    const { code, stdout, stderr } = await ctl('search');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('no catalog of the cluster can be read\n');
  });

  test('that do not exist are an error', async () => {
    const { stderr } = await ctl('search');
    expect(stderr).toContain('the cluster has no catalog: create a Catalog or ClusterCatalog\n');
  });

  test('write nothing to the terminal but text', async () => {
    const hostile = 'red\u001b[31m\u202etxt\nsecond';
    const metadata = {
      displayName: hostile,
      annotations: { description: hostile },
      provider: { name: hostile },
      installModes: [{ type: hostile, supported: true }],
    };
    const old = { reference: { schema: 'olm.package' }, message: hostile };
    const deprecations = { schema: 'olm.deprecations', package: 'painter', entries: [old] };
    content = linesOf([...packageOf('painter', { metadata }), deprecations]);
    putCatalog('a');
    for (const args of [['search'], ['info', 'painter'], ['info', 'painter', '-o', 'wide']]) {
      const { code, stdout } = await ctl(...args);
      expect(code).toBe(0);
      expect(stdout).toContain('red');
      expect(stdout).not.toContain('\u001b');
      expect(stdout).not.toContain('\u202e');
      expect(stdout).not.toMatch(/^second/m);
    }
  });
});

describe('install', () => {
  test('creates nothing if the package is unknown', async () => {
    putCatalog('a');
    const { code, stderr } = await ctl('install', 'paintr');
    expect(code).toBe(1);
    expect(stderr).toContain('no catalog has package "paintr": did you mean "painter"?\n');
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test.each([
    [['--namespace=x'], 'an Operator has no --namespace: pass --cluster-extension too'],
    [['--catalog=x'], 'an Operator has no --catalog: pass --cluster-extension too'],
    [['--cluster-extension'], 'a ClusterExtension needs --namespace'],
    [['--channel=a', '--channel=b'], 'an Operator takes one channel: pass --channel once'],
  ])('refuses %j', async (flags, text) => {
    const { code, stderr } = await ctl('install', 'painter', ...flags);
    expect(code).toBe(1);
    expect(stderr).toContain(`${text}\n`);
  });

  test('does not take an operator that is being deleted for an installed one', async () => {
    const { metadata, ...operator } = anOperator();
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    api.put(operatorResource, { ...operator, metadata: { ...metadata, deletionTimestamp } });
    const { code, stdout, stderr } = await ctl('install', 'painter');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      'Operator "painter" is being deleted (deletion requested at 2026-01-01T00:00:00Z): run the command again when it is gone\n',
    );
  });

  test('--watch ends with the sentence of the condition', async () => {
    putOperator('ResolutionFailed', 'Allow 2.x.');
    const { code, stdout, stderr } = await ctl('install', 'painter', '--watch');
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: 'operator.operators.operatorframework.io "painter" unchanged\n',
    });
    expect(stderr).toContain('Operator "painter": ResolutionFailed: Allow 2.x.\n');
  });

  test('--watch ends after its time', { tags: ['slow'] }, async () => {
    putOperator('RollingOut', 'Deployment x/y is not ready.');
    const { code, stdout, stderr } = await ctl('install', 'painter', '--watch', '--timeout=1s');
    expect(code).toBe(1);
    expect(stdout).toContain('Operator "painter": Deployment x/y is not ready.\n');
    expect(stderr).toContain(
      'Operator "painter" is not ready after 1 s: RollingOut: Deployment x/y is not ready.\n',
    );
  });
});

describe('upgrade', () => {
  test('changes nothing that it cannot check', async () => {
    putCatalog('b', 'http://127.0.0.1:1');
    putOperator('RollingOut', '');
    const { code, stderr } = await ctl('upgrade', 'painter', '--to=1.1.0');
    expect(code).toBe(1);
    expect(stderr).toContain('Warning: Catalog "b" cannot be read: ');
    expect(stderr).toContain(
      'nothing is changed: the upgrade cannot be checked without all catalogs\n',
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('needs something to change, and an object', async () => {
    putCatalog('a');
    expect((await ctl('upgrade', 'painter')).stderr).toContain(
      'nothing to change: pass --to, --channel, or both\n',
    );
    expect((await ctl('upgrade', 'painter', '--to=1.1.0')).stderr).toContain(
      'there is no Operator or ClusterExtension "painter"\n',
    );
  });

  test('--force says which policy is set now, also if the upgrade then fails', {
    tags: ['slow'],
  }, async () => {
    content = linesOf(packageOf('painter', { versions: ['1.0.0', '2.0.0'] }));
    putCatalog('a');
    putOperator('RollingOut', 'Deployment x/y is not ready.');
    api.put(bundleDeploymentResource, installedDeployment(anOperator(), '1.0.0'));
    const flags = ['--to=2.0.0', '--force', '--watch', '--timeout=1s'];
    const { code, stdout, stderr } = await ctl('upgrade', 'painter', ...flags);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('Operator "painter" is not ready after 1 s'),
    });
    expect(stdout).toContain(
      'upgradeConstraintPolicy is Ignore now: every allowed version is installed, downgrades too, until you set it to Enforce\n',
    );
  });

  test('--watch does not overwrite what somebody else sets between two upgrades', async () => {
    content = linesOf(packageOf('painter', { versions: ['1.0.0', '1.1.0', '1.2.0'] }));
    const { port } = server.address() as AddressInfo;
    const catalog = aServedClusterCatalog('colours');
    const urls = { base: `http://127.0.0.1:${port}/catalogs/colours` };
    api.put(clusterCatalogResource, {
      ...catalog,
      status: { ...(catalog['status'] as object), urls },
    });
    api.put(bundleDeploymentResource, installedDeployment(aClusterExtension(), '1.0.0'));
    let extension = installedExtension({ version: '1.0.0' }, 1);
    api.put(clusterExtensionResource, extension);
    const patched: unknown[] = [];
    const colleagues = installedExtension({ version: '1.1.0', channels: ['old'] }, 3);
    const answers = [() => extension, () => colleagues];
    api.answer(
      '/apis/olm.operatorframework.io/v1/clusterextensions/painter',
      ({ method, body }) => {
        // Read while the first upgrade is awaited, and again after it.
        if (method === 'GET') return (answers.length > 1 ? answers.shift() : answers[0])?.();
        patched.push(JSON.parse(body));
        extension = installedExtension({ version: '1.1.0' }, 2);
        return extension;
      },
    );
    const { code, stdout, stderr } = await ctl('upgrade', 'painter', '--to=1.2.0', '--watch');
    expect(stderr).toContain(
      'another client changed ClusterExtension "painter" meanwhile: rukpakctl stopped. Check its spec, and run the command again\n',
    );
    expect(code).toBe(1);
    expect(stdout).not.toContain('changed to version "1.2.0"');
    expect(patched).toHaveLength(1);
  });
});

test('several upgrades to the version of the spec end there, also if only --channel is given', async () => {
  content = linesOf(packageOf('painter', { versions: ['1.0.0', '1.1.0', '1.2.0'] }));
  const { port } = server.address() as AddressInfo;
  const catalog = aServedClusterCatalog('colours');
  const urls = { base: `http://127.0.0.1:${port}/catalogs/colours` };
  const status = { ...(catalog['status'] as object), urls };
  api.put(clusterCatalogResource, { ...catalog, status });
  api.put(bundleDeploymentResource, installedDeployment(aClusterExtension(), '1.0.0'));
  let extension = installedExtension({ version: '1.2.0' }, 1);
  api.put(clusterExtensionResource, extension);
  const patched: unknown[] = [];
  api.answer('/apis/olm.operatorframework.io/v1/clusterextensions/painter', ({ method, body }) => {
    if (method === 'GET') return extension;
    const { spec } = JSON.parse(body) as { spec: { source: { catalog: { version: string } } } };
    patched.push(spec.source.catalog);
    extension = installedExtension(spec.source.catalog, patched.length + 1);
    return extension;
  });
  const { code, stderr } = await ctl('upgrade', 'painter', '--channel=stable', '--watch');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const channels = ['stable'];
  expect(patched).toEqual([
    { version: '1.1.0', channels },
    { version: '1.2.0', channels },
  ]);
});

/** A ClusterExtension whose version is installed. */
function installedExtension(
  wish: { readonly version: string; readonly channels?: readonly string[] },
  generation: number,
): KubernetesObject {
  const { metadata, ...extension } = aClusterExtension(wish);
  const ready = { type: 'Ready', status: 'True', reason: 'Healthy', message: '' };
  const bundle = { name: `painter.v${wish.version}`, version: wish.version };
  return {
    ...extension,
    metadata: { ...metadata, generation, resourceVersion: String(generation) },
    status: { conditions: [{ ...ready, observedGeneration: generation }], install: { bundle } },
  };
}

test('a path follows the catalog where the feature gate of the process is off', async () => {
  content = linesOf(packageOf('painter', { versions: ['1.0.0', '2.0.0'] }));
  putCatalog('a');
  const path = ['path', 'painter', '--from=1.0.0', '--to=2.0.0'];
  expect(await ctl(...path)).toMatchObject({ code: 1 });
  const gates = '--feature-gates=ForceSemverUpgradeConstraints=false';
  expect(await ctl(...path, gates)).toMatchObject({ code: 0, stderr: '' });
});

test('a path that does not exist ends with 1, also for scripts', async () => {
  putCatalog('a');
  const { code, stdout } = await ctl(
    'path',
    'painter',
    '--from=1.0.0',
    '--to=3.0.0',
    '--output=json',
  );
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    package: 'painter',
    to: '3.0.0',
    from: '1.0.0',
    path: {
      kind: 'none',
      reason: 'No available catalog has version 3.0.0 of package "painter".',
      nearest: expect.objectContaining({ version: '1.1.0' }),
    },
  });
});

test('deprecations and what is installed are in the details', async () => {
  putCatalog('a');
  putOperator('RollingOut', '');
  const { stdout } = await ctl('info', 'painter');
  expect(stdout).toContain('Channel stable:   1.1.0, 1.0.0\nChannel old:      1.0.0\n');
  expect(stdout).toContain('Operator painter: nothing installed, Ready False (RollingOut)\n');
});

describe('uninstall', () => {
  function putOwned(name: string, ...by: readonly KubernetesObject[]): void {
    const { metadata, ...operator } = anOperator({}, name);
    const ownerReferences = by.map(
      ({ apiVersion, kind, metadata: { name: of = '', uid = '' } }) => {
        return { apiVersion, kind, name: of, uid };
      },
    );
    api.put(operatorResource, { ...operator, metadata: { ...metadata, ownerReferences } });
  }

  test('lists what was installed for the operator alone', async () => {
    api.put(operatorResource, anOperator());
    putOwned('brush', anOperator());
    const { code, stdout, stderr } = await ctl('uninstall', 'painter', '--dry-run');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout:
        'Operator "painter" is deleted, and with it:\n  Operator/brush (nothing else requires it)\n',
      stderr: '',
    });
  });

  test('warns of those that require it', async () => {
    putOwned('brush', anOperator());
    const { stdout, stderr } = await ctl('uninstall', 'brush', '--dry-run');
    expect(stdout).toBe('Operator "brush" is deleted, which has installed nothing\n');
    expect(stderr).toBe(
      'Warning: Operator "painter" requires it: "rukpak operators" installs it again\n',
    );
  });

  test('warns of ClusterExtensions too, which get nothing installed', async () => {
    putOwned('brush', anOperator(), aClusterExtension({}, {}, 'app'));
    putOwned('roller', aClusterExtension({}, {}, 'app'));
    const both = await ctl('uninstall', 'brush', '--dry-run');
    expect(both.stderr).toBe(
      'Warning: Operator "painter" requires it: "rukpak operators" installs it again\n',
    );
    const { stderr } = await ctl('uninstall', 'roller', '--dry-run');
    expect(stderr).toBe(
      'Warning: ClusterExtension "app" requires it: "rukpak operators" does not install it again\n',
    );
  });
});
