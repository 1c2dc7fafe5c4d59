import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { configMapResource } from '../../core/platform/kube/index.ts';
import { FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { aConfigMap } from '../../test/helpers/objects.ts';
import { rukpakctl } from '../../test/helpers/rukpakctl.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';

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
