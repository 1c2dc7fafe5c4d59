import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, patiently } from '../helpers/eventually.ts';
import { packageBlobs, rule, rulesWithoutEnd } from '../helpers/hostile-packages.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { pushCatalog } from '../helpers/push-catalog.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const operators = 'operators.operators.operatorframework.io';

let system: System;

beforeAll(async () => {
  const blobs = [
    ...packageBlobs('hostile-rules', 1, rulesWithoutEnd()),
    ...packageBlobs('hostile-many', 2_000),
    ...packageBlobs('hostile-rule', 1, [rule('properties.exists(p, p.type == "olm.package")')]),
    ...packageBlobs('hostile-none', 3),
  ];
  const files = { 'catalog.json': blobs.map((blob) => JSON.stringify(blob)).join('\n') };
  const ref = await pushCatalog(`${registry}/hostile/catalog:v1`, files);
  system = await System.start({ kubeconfig, registry, installFlags: ['--operators'] });
  await kubectl.apply({
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name: 'hostile' },
    spec: { source: { type: 'image', image: { ref } } },
  });
});

afterAll(async () => {
  await kubectl.deleteAll(operators, { wait: false, ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteAll('catalogs', { ignoreNotFound: true });
  await system?.stop();
  await removeOperatorCrds(kubeconfig);
});

/** Each resolves alone, in a process of its own where it is not small. */
const resolved: Readonly<Record<string, RegExp>> = {
  'hostile-rules': /^resolving package "hostile-rules" takes more than 40000000 steps: request /,
  'hostile-many': /^resolved to "example.com\/hostile-many:1\.1999\.0"$/,
  'hostile-rule': /^resolved to "example.com\/hostile-rule:1\.0\.0"$/,
  'hostile-none': /^resolved to "example.com\/hostile-none:1\.2\.0"$/,
};

test('packages that take long to resolve are conditions of their own objects', async () => {
  const objects = Object.keys(resolved).map((name) => ({
    apiVersion: 'operators.operatorframework.io/v1alpha1',
    kind: 'Operator',
    metadata: { name },
    spec: { packageName: name },
  }));
  await kubectl.apply(...objects);
  await eventually(async () => {
    for (const [name, message] of Object.entries(resolved)) {
      const condition = conditionOf(await kubectl.get(operators, name), 'Resolved');
      expect(condition?.message).toMatch(message);
    }
  }, patiently);
});
