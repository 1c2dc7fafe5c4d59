// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { System } from '../helpers/system.ts';

const name = 'large';
const group = 'large.example.com';
const definitions = 50;
const objectsPerKind = 125;
const definitionBytes = 200_000;
const kinds = ['configmaps', 'serviceaccounts', 'services', 'deployments.apps'] as const;
const within = 600_000;
/** More than each step may take, so that the step says what it waited for. */
const limit = 3 * within + 400_000;

let kubectl: Kubectl;
let registry: string;
let system: System;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await System.start({ kubeconfig: plane.kubeconfig, registry });
});

afterAll(async () => {
  await kubectl.deleteNamed('bundledeployment', [name], { ignoreNotFound: true });
  await system.stop();
});

/** Mostly descriptions, as in real CRDs. */
function aDefinition(index: number, version: string): object {
  const description = `${version}: ${'what this field is for, in many words. '.repeat(25)}`;
  const field = { type: 'string', description };
  const count = Math.ceil(definitionBytes / JSON.stringify({ field000: field }).length);
  const fields = Array.from({ length: count }, (_, at) => [`field${at}`, field]);
  const spec = { type: 'object', properties: Object.fromEntries(fields) };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `large${index}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: `Large${index}`, plural: `large${index}s` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

function objectsOf(index: number, version: string): readonly object[] {
  const metadata = { name: `large-${index}`, namespace: 'default' };
  const labels = { app: metadata.name };
  const containers = [{ name: 'main', image: `example.invalid/none:${version}` }];
  const template = { metadata: { labels }, spec: { containers } };
  const workload = { replicas: 0, selector: { matchLabels: labels }, template };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { version } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: workload },
  ];
}

function filesOf(version: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (let index = 0; index < definitions; index += 1) {
    files[`manifests/crd-${index}.yaml`] = JSON.stringify(aDefinition(index, version));
  }
  for (let index = 0; index < objectsPerKind; index += 1) {
    const documents = objectsOf(index, version).map((object) => JSON.stringify(object));
    files[`manifests/app-${index}.yaml`] = documents.join('\n---\n');
  }
  return files;
}

async function rollOut(version: string): Promise<void> {
  const repository = `test/${name}`;
  const layers = [{ files: filesOf(version) }];
  await pushImage({ registry, repository, tag: version, layers });
  const source = anImage(`${registry}/${repository}:${version}`);
  await kubectl.apply(aBundleDeployment({ name, source }));
}

async function healthy(version: string): Promise<void> {
  await eventually(
    async () => {
      const deployment = await kubectl.get('bundledeployment', name);
      const bundles = await kubectl.list('bundles', `core.rukpak.io/owner-name=${name}`);
      expect(conditionOf(deployment, 'Installed')?.message).toContain('Instantiated bundle');
      expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
      expect(JSON.stringify(bundles.map((bundle) => bundle['spec']))).toContain(`:${version}"`);
      expect(bundles).toHaveLength(1);
    },
    { within, every: 1_000 },
  );
}

const selector = `core.rukpak.io/owner-name=${name}`;

async function count(kind: string, output: string): Promise<Readonly<Record<string, number>>> {
  const words = ['get', kind, '--all-namespaces', `--selector=${selector}`, `--output=${output}`];
  const values = (await kubectl.must(words)).split('\n').filter(Boolean);
  return Object.fromEntries(
    [...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]),
  );
}

async function expectVersion(version: string): Promise<void> {
  const data = 'jsonpath={range .items[*]}{.data.version}{"\\n"}{end}';
  expect(await count('configmaps', data)).toEqual({ [version]: objectsPerKind });
  const image = 'jsonpath={range .items[*]}{.spec.template.spec.containers[0].image}{"\\n"}{end}';
  expect(await count('deployments.apps', image)).toEqual({
    [`example.invalid/none:${version}`]: objectsPerKind,
  });
  const established =
    'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Established")].status}{"\\n"}{end}';
  expect(await count('crds', established)).toEqual({ True: definitions });
}

test('500 objects and fifty CRDs of 200 KB install, are upgraded and deleted', {
  timeout: limit,
}, async () => {
  expect(JSON.stringify(aDefinition(0, 'v1')).length).toBeGreaterThan(definitionBytes);
  await rollOut('v1');
  await healthy('v1');
  await expectVersion('v1');
  await rollOut('v2');
  await healthy('v2');
  await expectVersion('v2');
  await kubectl.deleteNamed('bundledeployment', [name]);
  await eventually(
    async () => {
      for (const kind of [...kinds, 'crds']) {
        expect(await count(kind, 'jsonpath={range .items[*]}{.kind}{"\\n"}{end}')).toEqual({});
      }
    },
    { within, every: 1_000 },
  );
});
