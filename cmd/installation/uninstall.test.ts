import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { definitionResource } from '../../core/platform/kube/index.ts';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { install } from './install.ts';
import { uninstall } from './uninstall.ts';

const role = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};
const deployment = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const binding = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};
let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

afterAll(() => api.stop());

beforeEach(() => {
  api.reset();
  api.serve(bundleDeploymentResource);
  api.put(role, anObjectOf(role, 'bundle-reader'));
  api.put(deployment, anObjectOf(deployment, 'core', { metadata: { namespace: 'rukpak-system' } }));
  const metadata = { namespace: 'crdvalidator-system' };
  api.put(deployment, anObjectOf(deployment, 'crd-validation-webhook', { metadata }));
});

/** The lines of a dry run. */
async function linesOf(systemNamespace: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const { kubeconfig } = api;
  const options = { kubeconfig, systemNamespace, deleteWorkloads: false, dryRun: true };
  await uninstall({ ...options, timeout: 120_000 }, (line) => void lines.push(line));
  return lines;
}

test('warns if the system’s namespace has none of its Deployments', async () => {
  expect(await linesOf('rukpack')).toContain(
    'Warning: namespace "rukpack" has no Deployment of RukPak: if core runs in another namespace, name it with --system-namespace. Otherwise its processes keep running, without permissions and webhooks',
  );
});

test('names as kept only CRDs that the cluster has', async () => {
  const [bundles, deployments] = ['bundles', 'bundledeployments'].map(
    (plural) => `${plural}.core.rukpak.io`,
  );
  api.put(definitionResource, anObjectOf(definitionResource, deployments ?? ''));
  const lines = await linesOf('rukpak-system');
  const type = 'customresourcedefinition.apiextensions.k8s.io';
  expect(lines).toContain(`${type}/${deployments} kept`);
  expect(lines).not.toContain(`${type}/${bundles} kept`);
});

test('does not warn otherwise', async () => {
  const lines = await linesOf('rukpak-system');
  expect(lines).toContain('deployment.apps/core deleted (dry run)');
  expect(lines.filter((line) => line.startsWith('Warning'))).toEqual([]);
});

describe('once RukPak v0.16 is installed again', () => {
  const named = `Deployment "core" of namespace "rukpak-system" is RukPak v0.16's own (its command is /core)`;
  const finalizers = ['core.rukpak.io/delete-objects'];
  const options = { systemNamespace: 'rukpak-system', timeout: 120_000 };

  beforeEach(() => {
    const containers = [{ name: 'kube-rbac-proxy' }, { name: 'manager', command: ['/core'] }];
    const spec = { template: { spec: { containers } } };
    const metadata = { namespace: 'rukpak-system' };
    api.put(deployment, anObjectOf(deployment, 'core', { metadata, spec }));
    const demo = anObjectOf(bundleDeploymentResource, 'demo', { metadata: { finalizers } });
    api.put(bundleDeploymentResource, demo);
  });

  test.each([false, true])('deletes none of its programs (dry run: %s)', async (dryRun) => {
    const { kubeconfig } = api;
    const run = uninstall(
      { ...options, kubeconfig, dryRun, deleteWorkloads: true },
      () => undefined,
    );
    await expect(run).rejects.toThrow(
      `nothing is deleted: ${named}: delete RukPak with the manifests that it was installed with`,
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('an installation does not take its roles and webhooks while it runs', async () => {
    const run = install(
      { ...options, kubeconfig: api.kubeconfig, guardCrdDeletion: false, dryRun: false },
      { print: vi.fn(), warn: vi.fn() },
    );
    await expect(run).rejects.toThrow(
      `nothing is applied: ${named}: delete RukPak’s Deployments and Services first, as for a migration`,
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('only prepares BundleDeployments that an earlier run did not reach', async () => {
    const lines: string[] = [];
    const { kubeconfig } = api;
    await uninstall(
      { ...options, kubeconfig, dryRun: false, deleteWorkloads: false, toRukpak: true },
      (line) => void lines.push(line),
    );
    expect(lines.slice(1)).toEqual([
      `nothing is deleted: ${named}`,
      'bundledeployment.core.rukpak.io/demo released',
    ]);
    expect(api.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect(api.get(bundleDeploymentResource, 'demo')?.metadata.finalizers).toEqual([]);
  });
});

test('on the way back to RukPak, deletes nothing if BundleDeployments may not be changed', async () => {
  const demo = anObjectOf(bundleDeploymentResource, 'demo');
  api.put(bundleDeploymentResource, demo);
  const refusal = { kind: 'Status', code: 403, message: 'cannot patch bundledeployments' };
  api.answer('/apis/core.rukpak.io/v1alpha1/bundledeployments/demo', ({ method }) =>
    method === 'GET' ? demo : refusal,
  );
  const options = { kubeconfig: api.kubeconfig, deleteWorkloads: false, toRukpak: true };
  const refused = uninstall(
    { ...options, systemNamespace: 'rukpak-system', dryRun: false, timeout: 120_000 },
    () => undefined,
  );
  await expect(refused).rejects.toThrow(
    'nothing is deleted: cannot change bundledeployment.core.rukpak.io/demo: cannot patch bundledeployments',
  );
  const deletions = api.requests.filter(({ method }) => method === 'DELETE');
  expect(deletions.filter(({ body }) => JSON.parse(body).dryRun === undefined)).toEqual([]);
});

test('goes on to its end, on the way back to RukPak, where the CRDs are deleted', async () => {
  api.reset();
  api.put(role, anObjectOf(role, 'bundle-reader'));
  const lines: string[] = [];
  const options = { kubeconfig: api.kubeconfig, deleteWorkloads: false, toRukpak: true };
  await uninstall(
    { ...options, systemNamespace: 'rukpak-system', dryRun: false, timeout: 120_000 },
    (line) => void lines.push(line),
  );
  expect(lines).toContain('clusterrole.rbac.authorization.k8s.io/bundle-reader deleted');
  expect(lines.at(-1)).toMatch(/^Everything that BundleDeployments have installed is kept/);
});

test('deletes nothing of an installation in another namespace', async () => {
  const subjects = [{ kind: 'ServiceAccount', name: 'core-admin', namespace: 'rukpak-system' }];
  api.put(binding, anObjectOf(binding, 'core-admin', { subjects }));
  const { kubeconfig } = api;
  const options = { kubeconfig, deleteWorkloads: true, dryRun: false, timeout: 120_000 };
  const mistyped = uninstall({ ...options, systemNamespace: 'rukpack' }, () => undefined);
  await expect(mistyped).rejects.toThrow(
    'nothing is deleted: ClusterRoleBinding "core-admin" belongs to the installation in namespace "rukpak-system", not to one in "rukpack": name that with --system-namespace',
  );
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await linesOf('rukpak-system')).toContain(
    'clusterrolebinding.rbac.authorization.k8s.io/core-admin deleted (dry run)',
  );
});

describe('one of the deletions would fail', () => {
  const path = '/apis/apps/v1/namespaces/rukpak-system/deployments/core';
  const metadata = { namespace: 'rukpak-system' };
  const core = anObjectOf(deployment, 'core', { metadata });

  /** The `dryRun` of each deletion. */
  const dryRuns = (): readonly unknown[] =>
    api.requests
      .filter(({ method }) => method === 'DELETE')
      .map(({ body }) => JSON.parse(body).dryRun);

  async function run(dryRun: boolean, answer: (isDryRun: boolean) => unknown): Promise<void> {
    api.answer(path, ({ method, body }) =>
      method === 'GET' ? core : answer(JSON.parse(body).dryRun !== undefined),
    );
    const options = { kubeconfig: api.kubeconfig, deleteWorkloads: true, timeout: 500 };
    await uninstall({ ...options, systemNamespace: 'rukpak-system', dryRun }, () => undefined);
  }

  test.each([
    [403, 'policy "keep" forbids it'],
    [500, 'failed calling webhook "policy.example.com": connection refused'],
  ])('deletes nothing: the API server answers with %i', async (code, message) => {
    for (const dryRun of [true, false]) {
      await expect(run(dryRun, () => ({ kind: 'Status', code, message }))).rejects.toThrow(
        `nothing is deleted: cannot delete deployment.apps/core: ${message}`,
      );
    }
    expect(dryRuns()).toEqual([['All'], ['All']]);
  });

  test('goes on if a webhook refuses dry runs alone', async () => {
    const message = 'admission webhook "a" does not support dry run';
    const refusal = { kind: 'Status', code: 400, message };
    const left = run(false, (isDryRun) => (isDryRun ? refusal : core));
    await expect(left).rejects.toThrow('it still exists after 0.5 s');
    expect(dryRuns()).toContain(undefined);
  });
});

test('says at once that another client creates a deleted object again', async () => {
  const path = '/apis/apps/v1/namespaces/rukpak-system/deployments/core';
  let uid = 'first';
  api.answer(path, ({ method, body }) => {
    if (method === 'DELETE' && JSON.parse(body).dryRun === undefined) uid = 'second';
    return anObjectOf(deployment, 'core', { metadata: { namespace: 'rukpak-system', uid } });
  });
  const options = { kubeconfig: api.kubeconfig, deleteWorkloads: false, dryRun: false };
  const run = uninstall(
    { ...options, systemNamespace: 'rukpak-system', timeout: 3_000 },
    () => undefined,
  );
  await expect(run).rejects.toThrow(
    'cannot delete deployment.apps/core: another client has created it again: stop that, such as a GitOps controller, and run the command again',
  );
});

test('names whom a deleted binding also binds', async () => {
  const ours = { kind: 'ServiceAccount', name: 'core-admin', namespace: 'rukpak-system' };
  const theirs = { kind: 'User', name: 'alice' };
  api.put(binding, anObjectOf(binding, 'core-admin', { subjects: [ours, theirs] }));
  expect(await linesOf('rukpak-system')).toContain(
    'Warning: ClusterRoleBinding "core-admin" also binds User "alice": bind them again after the next installation',
  );
  api.put(binding, anObjectOf(binding, 'core-admin', { subjects: [ours] }));
  expect((await linesOf('rukpak-system')).filter((line) => line.startsWith('Warning'))).toEqual([]);
});

test('an installation takes nothing from one in another namespace', async () => {
  const subjects = [{ kind: 'ServiceAccount', name: 'core-admin', namespace: 'tools' }];
  api.put(binding, anObjectOf(binding, 'core-admin', { subjects }));
  const options = { kubeconfig: api.kubeconfig, guardCrdDeletion: false, dryRun: false };
  const second = install(
    { ...options, systemNamespace: 'rukpak-system' },
    { print: vi.fn(), warn: vi.fn() },
  );
  await expect(second).rejects.toThrow(
    'nothing is applied: ClusterRoleBinding "core-admin" belongs to the installation in namespace "tools", not to one in "rukpak-system": name that with --system-namespace, or first run "rukpak uninstall --system-namespace tools", which keeps everything that is installed',
  );
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});
