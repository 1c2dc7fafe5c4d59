import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  type BundleDeployment,
  bundleDeploymentResource,
  bundleResource,
} from '../../api/v1alpha1/index.ts';
import { desiredBundle } from '../../core/bundle-deployment/desired-bundle.ts';
import {
  configMapResource,
  connect,
  createConfigMapReader,
  createSecretReader,
  type KubeConnection,
  secretResource,
} from '../../core/platform/kube/index.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { aTestNamespace } from '../helpers/test-namespace.ts';

const odd = '{"__proto__":"b2Rk","constructor":"b2Rk","toString":"b2Rk"}';
const keys = Object.keys(JSON.parse(odd) as object);
const { signal } = new AbortController();

let kube: KubeConnection;
let namespace: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'odd-keys-test' });
  await installCrds(plane.kubeconfig);
  ({ namespace, drop } = await aTestNamespace(kube.client, 'odd-keys'));
});

afterAll(async () => {
  await drop?.();
  await kube?.close();
});

test('ConfigMaps and Secrets may have keys that prototypes have, and sources are given them', async () => {
  const metadata = { name: 'odd', namespace };
  const data = JSON.parse(odd) as object;
  await kube.client.create(configMapResource, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data,
  });
  await kube.client.create(secretResource, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  const files = await createConfigMapReader(kube.client, namespace).read('odd', signal);
  expect([...(files?.keys() ?? [])].sort()).toEqual(keys);
  const secret = await createSecretReader(kube.client, namespace).read('odd', signal);
  expect([...(secret?.data.keys() ?? [])].sort()).toEqual(keys);
  expect(secret?.data.get('__proto__')).toEqual(Buffer.from('odd'));
});

test('a label or annotation of that name is kept in a template, and refused where a Bundle is made', async () => {
  const source = anImage('example.com/odd-keys:v1');
  const made = aBundleDeployment({ name: 'odd-keys', source }) as BundleDeployment;
  const config = { nested: JSON.parse(odd) as object };
  for (const field of ['labels', 'annotations'] as const) {
    const map = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>;
    const template = { ...made.spec.template, metadata: { [field]: map } };
    const object = { ...made, spec: { ...made.spec, config, template } } as KubernetesObject;
    const live = (await kube.client.create(bundleDeploymentResource, object)) as BundleDeployment;
    await kube.client.delete(bundleDeploymentResource, { name: 'odd-keys' });
    expect(Object.keys(live.spec.template.metadata?.[field] ?? {})).toEqual([
      '__proto__',
      'constructor',
    ]);
    expect(live.spec.config).toEqual(config);
    const bundle = desiredBundle(live, 'hash');
    await expect(kube.client.create(bundleResource, bundle)).rejects.toThrow(
      /metadata\.(?:labels|annotations): Invalid value: "__proto__": name part must consist of/,
    );
  }
});
