import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { loadDirectory } from '../../cmd/ctl/load-directory.ts';
import { renderBundle } from '../../cmd/ctl/render-bundle.ts';
import { type BundleFiles, defaultLimits } from '../../core/sdk.ts';
import { pushImage } from '../../deploy/local/registry/push-image.ts';
import { changedCopy } from '../helpers/changed-copy.ts';
import { eventually } from '../helpers/eventually.ts';
import { identitiesOf, missingContent, ownedObjects } from '../helpers/installed-content.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import {
  realBundleDirectory,
  realBundles,
  realBundlesArePresent,
  withoutWebhooks,
} from '../helpers/real-bundles.ts';
import { aTree } from '../helpers/registry-bundle.ts';
import { System } from '../helpers/system.ts';

const present = realBundlesArePresent();
let system: System;
let kubectl: Kubectl;
let registry: string;

beforeAll(async () => {
  if (!present) return;
  registry = inject('registry');
  kubectl = new Kubectl({ path: inject('kubectl'), kubeconfig: inject('kubeconfig') });
  system = await System.start({ kubeconfig: inject('kubeconfig'), registry });
});

afterAll(async () => {
  if (!present) return;
  await kubectl.run(['delete', 'bundledeployments', '--all', '--wait=true', '--timeout=60s']);
  await system.stop();
});

const missingDefinitions = (name: string): string =>
  `resource mapping not found for name: "${name}" namespace: "" from "": ` +
  'no matches for kind "CustomResourceDefinition" in version "apiextensions.k8s.io/v1beta1"\n' +
  'ensure CRDs are installed first';

/** Bundles that convert, and that no API server of this version takes; each with the reason. */
const refusals: Readonly<Record<string, string | RegExp>> = {
  // The sample in manifests/ has an empty spec, and the bundle's own CRD requires two of its fields.
  'ack-iam-controller/0.0.10':
    'Role.iam.services.k8s.aws "example" is invalid: [spec.assumeRolePolicyDocument: Required value, spec.name: Required value]',
  // Kubernetes 1.22 dropped v1beta1 CRDs. All 41 are named.
  'azure-service-operator/0.37.0':
    /^required resource not found: error while running post render on files: \[(resource mapping not found for name: "\w+\.azure\.microsoft\.com" namespace: "" from "": no matches for kind "CustomResourceDefinition" in version "apiextensions\.k8s\.io\/v1beta1"\nensure CRDs are installed first(, |\]$)){41}$/,
  'cockroachdb/2.1.1':
    'required resource not found: error while running post render on files: ' +
    missingDefinitions('cockroachdbs.charts.helm.k8s.io'),
};

const unconverted = realBundles.filter(({ outcome }) => typeof outcome === 'string');
const refused = realBundles.filter(({ name }) => name in refusals);
const installed = realBundles.filter(
  ({ name, outcome }) => typeof outcome === 'number' && !(name in refusals),
);

/** A name that a BundleDeployment can have, with a short prefix too. */
function deploymentName(bundle: string): string {
  const [operator, version = ''] = bundle.split('/');
  return `${operator}-${version.replaceAll('.', '-')}`.slice(0, 40).replace(/-$/, '');
}

function contentOf(bundle: string): BundleFiles {
  return loadDirectory(realBundleDirectory(bundle), defaultLimits);
}

function statusOf(deployment: KubernetesObject): BundleDeploymentStatus {
  return (deployment['status'] as BundleDeploymentStatus | undefined) ?? {};
}

async function deploy(name: string, tag: string, { files }: BundleFiles): Promise<void> {
  const repository = `real/${name}`;
  await pushImage({ registry, repository, tag, layers: [{ files: Object.fromEntries(files) }] });
  const source = anImage(`${registry}/${repository}:${tag}`);
  await kubectl.apply(aBundleDeployment({ name, className: 'core-rukpak-io-registry', source }));
}

async function condition(
  name: string,
  type: string,
  expected: Partial<Condition>,
): Promise<KubernetesObject> {
  return await eventually(
    async () => {
      const deployment = await kubectl.get('bundledeployment', name);
      expect(conditionOf(deployment, type)).toMatchObject(expected);
      return deployment;
    },
    { within: 120_000, every: 500 },
  );
}

/** Deletes a deployment and waits until its objects, and the namespaces they were in, are gone. */
async function remove(name: string, objects: readonly KubernetesObject[]): Promise<void> {
  await kubectl.must(['delete', 'bundledeployment', name, '--timeout=60s']);
  // A CRD that is gone took its kind along.
  const kinds = objects.filter(({ apiVersion }) => isBuiltIn(apiVersion));
  if (kinds.length === 0) return;
  await eventually(
    async () => expect(identitiesOf(await ownedObjects(kubectl, name, kinds))).toEqual([]),
    // The garbage collector backs off while kinds come and go: more than two minutes were seen.
    { within: 600_000, every: 500 },
  );
}

/** Of the kind that real bundles have objects of and this cluster does not know. */
function aServiceMonitorCRD(): object {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'servicemonitors.monitoring.coreos.com' },
    spec: {
      group: 'monitoring.coreos.com',
      scope: 'Namespaced',
      names: { kind: 'ServiceMonitor', plural: 'servicemonitors' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

function isBuiltIn(apiVersion: string): boolean {
  return /^(v1|apps\/v1|(rbac\.authorization|apiextensions)\.k8s\.io\/v1)$/.test(apiVersion);
}

/** Expects exactly these objects, as written. */
async function expectContent(name: string, content: BundleFiles): Promise<void> {
  const objects = renderBundle(content, {});
  expect(identitiesOf(await ownedObjects(kubectl, name, objects))).toEqual(identitiesOf(objects));
  expect(await missingContent(kubectl, objects)).toEqual([]);
}

/** Installs content, upgrades it to a changed copy of itself, and deletes it. */
async function comesAndGoes(name: string, content: BundleFiles): Promise<void> {
  await deploy(name, 'v1', content);
  await condition(name, 'Installed', { status: 'True', reason: 'InstallationSucceeded' });
  const first = await condition(name, 'Healthy', { status: 'True', reason: 'Healthy' });
  await expectContent(name, content);
  const copy = aTree(changedCopy(Object.fromEntries(content.files), name));
  await deploy(name, 'v2', copy);
  await eventually(
    async () => {
      const { activeBundle } = statusOf(await kubectl.get('bundledeployment', name));
      expect(activeBundle).not.toBe(statusOf(first).activeBundle);
    },
    { within: 120_000, every: 500 },
  );
  await condition(name, 'Healthy', { status: 'True', reason: 'Healthy' });
  await expectContent(name, copy);
  await remove(name, renderBundle(copy, {}));
}

describe.skipIf(!present).concurrent('a real bundle', () => {
  test.each(unconverted)('$name says why it does not convert', async (bundle) => {
    const name = deploymentName(bundle.name);
    await deploy(name, 'v1', contentOf(bundle.name));
    const failed = { status: 'False', reason: 'UnpackFailed' } as const;
    const deployment = await condition(name, 'HasValidBundle', failed);
    const [made] = await kubectl.list('bundles', `core.rukpak.io/owner-name=${name}`);
    expect(conditionOf(deployment, 'HasValidBundle')?.message).toBe(
      `Failed to unpack the ${made?.metadata.name} Bundle: ${bundle.outcome}`,
    );
    expect(conditionOf(deployment, 'Installed')).toBeUndefined();
    await remove(name, []);
  });

  test.each(refused)('$name says what the API server refuses', async (bundle) => {
    const name = deploymentName(bundle.name);
    const files = contentOf(bundle.name);
    await deploy(name, 'v1', files);
    await condition(name, 'HasValidBundle', { status: 'True', reason: 'UnpackSuccessful' });
    const failed = { status: 'False', reason: 'InstallFailed' } as const;
    const deployment = await condition(name, 'Installed', failed);
    const message = conditionOf(deployment, 'Installed')?.message ?? '';
    const expected = refusals[bundle.name] ?? '';
    expect(message).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
    await remove(name, renderBundle(files, {}));
  });

  test.each(installed)('$name installs, is upgraded and goes', async (bundle) => {
    await comesAndGoes(deploymentName(bundle.name), contentOf(bundle.name));
  });

  // The largest, and those with kinds that no other has.
  test.each([
    'aerospike-kubernetes-operator/4.0.0',
    'cert-manager/1.9.1-rc1',
    'edp-keycloak-operator/1.33.0',
    'sn-operator/0.19.7',
  ])('%s without its webhooks installs and becomes healthy', async (name) => {
    await comesAndGoes(`less-${deploymentName(name)}`, withoutWebhooks(contentOf(name)));
  });

  test('dynatrace-operator/0.8.0 has a field that no Deployment has, and installs without it', async () => {
    const name = 'less-dynatrace-operator';
    const objects = renderBundle(withoutWebhooks(contentOf('dynatrace-operator/0.8.0')), {});
    await deploy(name, 'v1', withoutWebhooks(contentOf('dynatrace-operator/0.8.0')));
    await condition(name, 'Healthy', { status: 'True', reason: 'Healthy' });
    expect(identitiesOf(await ownedObjects(kubectl, name, objects))).toEqual(identitiesOf(objects));
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    expect(deployments).toHaveLength(2);
    const text = await eventually(async () => {
      const description = await kubectl.must(['describe', 'bundledeployment', name]);
      expect(description.match(/Warning +FieldsDropped/g)).toHaveLength(2);
      return description;
    });
    expect(text.match(/repeated list items: spec\.template\.containers\n/g)).toHaveLength(2);
    await remove(name, objects);
  });
});

describe.skipIf(!present)('an operator without its webhooks', () => {
  const name = 'vault-config-operator';
  const content = (version: string): BundleFiles =>
    withoutWebhooks(contentOf(`${name}/${version}`));
  const installed = { status: 'True', reason: 'InstallationSucceeded' } as const;

  test('waits for a kind that the cluster does not have', async () => {
    const older = content('0.8.49');
    await deploy(name, 'v0.8.49', older);
    const refusal = await condition(name, 'Installed', {
      status: 'False',
      reason: 'InstallFailed',
    });
    expect(conditionOf(refusal, 'Installed')?.message).toBe(
      'required resource not found: error while running post render on files: ' +
        `resource mapping not found for name: "${name}-controller-manager-metrics-monitor" namespace: "${name}" from "": ` +
        'no matches for kind "ServiceMonitor" in version "monitoring.coreos.com/v1"\n' +
        'ensure CRDs are installed first',
    );
    expect(await kubectl.exists('namespace', name)).toBe(false);
    await kubectl.apply(aServiceMonitorCRD());
    await condition(name, 'Installed', installed);
    await expectContent(name, older);
  });

  test('is upgraded, with one CRD more, and what only the old version had is pruned', async () => {
    const before = await condition(name, 'Healthy', { status: 'True' });
    const newer = content('0.8.52');
    await deploy(name, 'v0.8.52', newer);
    await eventually(async () => {
      const { activeBundle } = statusOf(await kubectl.get('bundledeployment', name));
      expect(activeBundle).not.toBe(statusOf(before).activeBundle);
    });
    await condition(name, 'Healthy', { status: 'True' });
    const objects = renderBundle(newer, {});
    expect(objects.length).toBe(renderBundle(content('0.8.49'), {}).length + 1);
    await expectContent(name, newer);
    await remove(name, objects);
    await kubectl.must(['delete', 'crd', 'servicemonitors.monitoring.coreos.com']);
  });
});
