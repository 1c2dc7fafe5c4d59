import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import { loadDirectory } from '../../cmd/ctl/load-directory.ts';
import { renderBundle } from '../../cmd/ctl/render-bundle.ts';
import { type BundleFiles, defaultLimits } from '../../core/sdk.ts';
import { pushImage } from '../../deploy/local/registry/push-image.ts';
import { eventually } from '../helpers/eventually.ts';
import { identitiesOf, missingContent, ownedObjects } from '../helpers/installed-content.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import { type RealBundle, realBundles, realBundlesArePresent } from '../helpers/real-bundles.ts';
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

/** A name that a BundleDeployment can have. */
function nameOf({ name }: RealBundle): string {
  const [operator, version = ''] = name.split('/');
  return `${operator}-${version.replaceAll('.', '-')}`.slice(0, 45).replace(/-$/, '');
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
    { within: 60_000, every: 500 },
  );
}

function isBuiltIn(apiVersion: string): boolean {
  return /^(v1|apps\/v1|(rbac\.authorization|apiextensions)\.k8s\.io\/v1)$/.test(apiVersion);
}

describe.skipIf(!present).concurrent('a real bundle', () => {
  test.each(unconverted)('$name says why it does not convert', async (bundle) => {
    const name = nameOf(bundle);
    await deploy(name, 'v1', loadDirectory(bundle.directory, defaultLimits));
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
    const name = nameOf(bundle);
    const files = loadDirectory(bundle.directory, defaultLimits);
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

  test.each(installed)('$name installs and becomes healthy', async (bundle) => {
    const name = nameOf(bundle);
    const files = loadDirectory(bundle.directory, defaultLimits);
    const objects = renderBundle(files, {});
    await deploy(name, 'v1', files);
    await condition(name, 'Installed', { status: 'True', reason: 'InstallationSucceeded' });
    await condition(name, 'Healthy', { status: 'True', reason: 'Healthy' });
    expect(identitiesOf(await ownedObjects(kubectl, name, objects))).toEqual(identitiesOf(objects));
    expect(await missingContent(kubectl, objects)).toEqual([]);
    await remove(name, objects);
  });
});
