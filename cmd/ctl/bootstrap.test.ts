import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { configMapResource, namespaceResource } from '../../core/platform/kube/index.ts';
import { FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { aConfigMap } from '../../test/helpers/objects.ts';
import { type CtlResult, rukpakctl } from '../../test/helpers/rukpakctl.ts';
import { aStoredBundle, aStoredDeployment } from '../../test/helpers/stored-objects.ts';

let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

beforeEach(() => {
  api.reset();
  api.serve(configMapResource, bundleDeploymentResource);
});

afterAll(() => api.stop());

test('alpha bootstrap applies nothing for a deployment with another source', async () => {
  api.put(bundleDeploymentResource, aStoredDeployment({ name: 'shop' }));
  const { code, stderr } = await rukpakctl(['alpha', 'bootstrap', 'shop', '--timeout=100ms'], {
    input: JSON.stringify(aConfigMap('shop', { a: '1' })),
    env: { KUBECONFIG: api.kubeconfig },
  });
  expect(stderr).toContain(
    'BundleDeployment "shop" gets its content from a source of type image: choose another name',
  );
  expect(code).toBe(1);
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('alpha bootstrap as another user, whom the content server cannot know, applies nothing', async () => {
  const { code, stderr } = await rukpakctl(['alpha', 'bootstrap', 'shop', '--as=jane'], {
    input: JSON.stringify(aConfigMap('shop', { a: '1' })),
    env: { KUBECONFIG: api.kubeconfig },
  });
  expect(stderr).toContain('cannot impersonate "jane"');
  expect(code).toBe(1);
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

const config = (name: string, a: string) => aConfigMap(name, { a }) as KubernetesObject;

/** Bootstraps `shop` with these objects, as far as it goes without a content server. */
async function bootstrap(...objects: readonly object[]): Promise<CtlResult> {
  return await rukpakctl(['alpha', 'bootstrap', 'shop', '--timeout=100ms'], {
    input: objects.map((object) => JSON.stringify(object)).join('\n---\n'),
    env: { KUBECONFIG: api.kubeconfig },
  });
}

const writes = () => api.requests.filter(({ method }) => method !== 'GET').map(({ path }) => path);

test.each<[string, object, string]>([
  [
    'another Helm release',
    helmMarks('other', 'rukpak-system'),
    'Helm release "other" in namespace "rukpak-system"',
  ],
  [
    'a Helm release of the name in another namespace',
    helmMarks('shop', 'apps'),
    'Helm release "shop" in namespace "apps"',
  ],
  [
    'another BundleDeployment',
    { labels: { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: 'other' } },
    'BundleDeployment "other"',
  ],
])('alpha bootstrap applies nothing if an object belongs to %s', async (_owner, marks, owner) => {
  const mine = config('mine', '1');
  const theirs = config('theirs', '1');
  api.put(configMapResource, { ...theirs, metadata: { ...theirs.metadata, ...marks } });
  const { code, stderr } = await bootstrap(mine, theirs);
  expect(stderr).toContain(
    `ConfigMap "theirs" in namespace "default" exists and belongs to ${owner}: leave it out, or delete it first`,
  );
  expect(code).toBe(1);
  expect(writes()).toEqual([]);
});

test('alpha bootstrap applies nothing if a Bundle was generated for a BundleDeployment', async () => {
  const labels = {
    [label.ownerKind]: 'BundleDeployment',
    [label.ownerName]: 'other',
    [label.templateHash]: 'x',
  };
  api.put(
    bundleResource,
    aStoredBundle({ name: 'other-x', metadata: { name: 'other-x', labels } }),
  );
  const { stderr } = await bootstrap(aStoredBundle({ name: 'other-x' }));
  expect(stderr).toContain(
    'Bundle "other-x" in namespace "" exists and belongs to BundleDeployment "other"',
  );
  expect(writes()).toEqual([]);
});

test('alpha bootstrap takes objects without an owner, and those of its own release', async () => {
  const own = config('own', '1');
  api.put(configMapResource, config('free', '0'));
  api.put(configMapResource, {
    ...own,
    metadata: { ...own.metadata, ...helmMarks('shop', 'rukpak-system') },
  });
  await bootstrap(config('free', '1'), own);
  expect(api.get(configMapResource, 'free', 'default')).toMatchObject({
    metadata: { annotations: { 'meta.helm.sh/release-name': 'shop' } },
    data: { a: '1' },
  });
});

test.each([
  ['that it asks for', {}, { installNamespace: 'prod' }, 'prod'],
  [
    'in which it is installed',
    { annotations: { 'core.rukpak.io/install-namespace': 'shop:live' } },
    { installNamespace: 'prod' },
    'live',
  ],
  ['of the system otherwise', {}, {}, 'rukpak-system'],
])(
  'objects without a namespace of a deployment go to the one %s',
  async (...[, metadata, spec, namespace]) => {
    const deployment = aStoredDeployment({ name: 'shop', metadata: { name: 'shop', ...metadata } });
    const template = { spec: { ...deployment.spec.template.spec, source: { type: 'upload' } } };
    const asked = { ...deployment.spec, ...spec, template };
    api.put(bundleDeploymentResource, { ...deployment, spec: asked });
    await bootstrap({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'free' } });
    expect(writes()).toContain(`/api/v1/namespaces/${namespace}/configmaps/free`);
  },
);

describe('a namespace that exists', () => {
  const shown = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } };

  test.each<[string, object]>([
    ['without an owner', {}],
    ['of another Helm release', helmMarks('other', 'prod')],
    [
      'of another BundleDeployment',
      { labels: { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: 'other' } },
    ],
  ])(
    '%s stays as it is, so that it is not deleted with the BundleDeployment',
    async (_owner, marks) => {
      const live = { ...shown, metadata: { ...shown.metadata, ...marks } };
      api.put(namespaceResource, live);
      api.put(configMapResource, config('free', '0'));
      const { stdout, stderr } = await bootstrap(shown, config('free', '1'));
      expect(stderr).not.toContain('belongs to');
      expect(stdout).toContain(
        'Namespace "prod" exists: it stays as it is, and is no part of BundleDeployment "shop"\n',
      );
      expect(api.get(namespaceResource, 'prod')).toEqual(live);
      expect(writes()).toContain('/api/v1/namespaces/default/configmaps/free');
    },
  );

  test('that an earlier bootstrap has made is applied', async () => {
    const marks = helmMarks('shop', 'rukpak-system');
    api.put(namespaceResource, { ...shown, metadata: { ...shown.metadata, ...marks } });
    await bootstrap(shown);
    expect(writes()).toContain('/api/v1/namespaces/prod');
  });
});

function helmMarks(name: string, namespace: string): object {
  return {
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      'meta.helm.sh/release-name': name,
      'meta.helm.sh/release-namespace': namespace,
    },
  };
}
