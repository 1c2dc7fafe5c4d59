import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { clusterExtensionResource } from '../../api/olm/v1/index.ts';
import { definitionResource } from '../../core/platform/kube/index.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { install } from './install.ts';

const crdName = 'clusterextensions.olm.operatorframework.io';
const source = { sourceType: 'Catalog', catalog: { packageName: 'web' } };
let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

beforeEach(() => api.reset());

afterAll(() => api.stop());

/** With the CRD of another project, and an extension with these fields of its spec. */
async function installBeside(fields: object, labels: object = {}): Promise<void> {
  const [manifest] = installManifests({ operators: true }).filter(
    ({ metadata }) => metadata.name === crdName,
  );
  const theirs = { ...manifest, metadata: { name: crdName, labels } };
  api.put(definitionResource, theirs as KubernetesObject);
  const spec = { namespace: 'shop', source, ...fields };
  api.put(clusterExtensionResource, anObjectOf(clusterExtensionResource, 'web', { spec }));
  await install(
    {
      kubeconfig: api.kubeconfig,
      systemNamespace: 'rukpak-system',
      guardCrdDeletion: false,
      operators: true,
      dryRun: false,
    },
    { print: () => undefined, warn: () => undefined },
  );
}

test.each<[string, object]>([
  ['spec.progress', { progress: { minutes: 1 } }],
  ['spec.source.catalog.more', { source: { ...source, catalog: { more: [{ a: 1 }] } } }],
])(
  'an object with field %s, which our CRD lacks, stops the installation',
  async (field, fields) => {
    await expect(installBeside(fields)).rejects.toThrow(
      `nothing is applied: CustomResourceDefinition "${crdName}" is of another project, and ClusterExtension "web" has ${field}, which the API server would drop. Remove it from the object, or first run kubectl apply --server-side --force-conflicts with the CRDs of this version`,
    );
    expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  },
);

test('fields that our CRD has, or leaves open, do not', async () => {
  const config = { configType: 'Inline', inline: { any: [{ field: 1 }] } };
  const catalog = { ...source.catalog, selector: { matchLabels: { 'example.com/a': 'b' } } };
  // The API server of the test has none of the CRDs that are applied first.
  const withoutCrds = /^cannot apply customresourcedefinition/;
  const run = installBeside({ config, source: { ...source, catalog } });
  await expect(run).rejects.toThrow(withoutCrds);
});

test('objects of our own CRD are not read', async () => {
  const labels = { 'app.kubernetes.io/part-of': 'rukpak' };
  await expect(installBeside({ progress: {} }, labels)).rejects.toThrow(/^cannot apply/);
});
