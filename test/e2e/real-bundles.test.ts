import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import { type BundleFiles, defaultLimits } from '../../core/sdk.ts';
import { clusterFacts } from '../helpers/cluster-facts.ts';
import { eventually } from '../helpers/eventually.ts';
import { configOf, type InstallMode } from '../helpers/install-modes.ts';
import { identitiesOf, ownedObjects } from '../helpers/installed-content.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { OperatorLife } from '../helpers/operator-life.ts';
import { plane } from '../helpers/plane.ts';
import {
  realBundleDirectory,
  realBundles,
  realBundlesArePresent,
} from '../helpers/real-bundles.ts';
import { smallBundles } from '../helpers/small-bundles.ts';
import { System } from '../helpers/system.ts';
import type { TestedBundle } from '../helpers/tested-bundle.ts';

/** A label of the namespaces that users would have made. */
const madeHere = 'example.com/real-bundles';

const present = realBundlesArePresent();
let system: System;
let kubectl: Kubectl;
let life: OperatorLife;

beforeAll(async () => {
  const [kubeconfig, registry] = [plane.kubeconfig, plane.registry];
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  system = await System.start({ kubeconfig, registry });
  life = new OperatorLife({ kubectl, registry, cluster: await clusterFacts(kubeconfig) });
});

afterAll(async () => {
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteAll('namespaces', { selector: madeHere, wait: false, ignoreNotFound: true });
  await system.stop();
});

/** Their webhooks are asked about every Pod or Namespace there is, and nobody answers here. */
const meddlesome = new Set(['dynatrace-operator/0.8.0', 'eginnovations-operator/0.0.2']);
/** In real-operators.test.ts, one after the other. */
const elsewhere = /^(edp-keycloak-operator|sn-operator|vault-config-operator)\/\d+\.\d+\.\d+$/;

const others = realBundles.filter(({ name }) => !elsewhere.test(name));

/** A name that a BundleDeployment can have, with a short prefix too. */
function deploymentName(bundle: string): string {
  const [operator, version = ''] = bundle.split('/');
  return `${operator}-${version.replaceAll('.', '-')}`.slice(0, 40).replace(/-$/, '');
}

function contentOf(bundle: string): BundleFiles {
  return loadDirectory(realBundleDirectory(bundle), defaultLimits);
}

/** Expects a deployment without a Bundle that can be installed, for a reason. */
async function expectUnpackFailure(name: string, reason: number | string): Promise<void> {
  const failed = { status: 'False', reason: 'UnpackFailed' } as const;
  const deployment = await life.condition(name, 'HasValidBundle', failed);
  const [made] = await kubectl.list('bundles', `core.rukpak.io/owner-name=${name}`);
  expect(conditionOf(deployment, 'HasValidBundle')?.message).toBe(
    `Failed to unpack the ${made?.metadata.name} Bundle: ${reason}`,
  );
  expect(conditionOf(deployment, 'Installed')).toBeUndefined();
}

async function ownConfig(name: string): Promise<JsonObject> {
  const namespace = `own-${name}`;
  const metadata = { name: namespace, labels: { [madeHere]: '' } };
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
  return { installNamespace: namespace, watchNamespace: namespace };
}

/** The tests of each bundle that its outcomes call for. */
function lives(bundles: readonly TestedBundle[]): void {
  // What no config helps.
  const unconvertible = bundles.filter(({ modes }) =>
    [...modes.values()].every((outcome) => typeof outcome === 'string'),
  );
  const convertible = bundles.filter((bundle) => !unconvertible.includes(bundle));
  const installed = convertible.filter(
    ({ name, modes, required }) =>
      modes.has('AllNamespaces') && required.length === 0 && !meddlesome.has(name),
  );
  const requiring = convertible.filter(({ required }) => required.length > 0);
  const ownNamespace = convertible.filter(
    ({ modes, required, foreign }) =>
      !modes.has('AllNamespaces') && required.length === 0 && foreign.length === 0,
  );

  test.each(unconvertible)('$name says why it does not convert', async (bundle) => {
    const name = deploymentName(bundle.name);
    const version = { content: bundle.content(), tag: 'v1' };
    await life.deploy(name, version);
    await expectUnpackFailure(name, bundle.withoutConfig);
    const [[mode, reason] = ['AllNamespaces', '']] = bundle.modes;
    if (reason !== bundle.withoutConfig) {
      await life.deploy(name, { ...version, config: configOf[mode as InstallMode] });
      await eventually(async () => await expectUnpackFailure(name, reason));
    }
    await life.remove(name);
  });

  test.each(requiring)('$name waits for the kinds that it needs', async (bundle) => {
    const name = deploymentName(bundle.name);
    const config = await ownConfig(name);
    await life.deploy(name, { content: bundle.content(), tag: 'v1', config });
    await eventually(async () => {
      const text = await kubectl.must(['describe', 'bundledeployment', name]);
      expect(text).toContain('the operator needs APIs that the cluster does not serve: ');
    });
    await life.remove(name);
  });

  test.each(installed)('$name installs, is upgraded and goes', async ({ name, content }) => {
    await life.comesAndGoes(deploymentName(name), content());
  });

  test.each(ownNamespace)('$name installs in its own namespace once it may', async (bundle) => {
    const name = deploymentName(bundle.name);
    const version = { content: bundle.content(), tag: 'v1' };
    await life.deploy(name, version);
    await expectUnpackFailure(name, bundle.withoutConfig);
    const configured = { ...version, config: await ownConfig(name) };
    await life.deploy(name, configured);
    await life.expectHealthy(name, configured);
    await life.remove(name, configured);
  });
}

describe.concurrent('a small bundle', () => {
  lives(smallBundles);
});

describe.skipIf(!present).concurrent('a real bundle', { tags: 'long' }, () => {
  lives(others);
});

describe.skipIf(!present)('a real bundle that is asked about everything', { tags: 'long' }, () => {
  // Without an operator that answers, its webhook refuses every Pod, the operator's own too.
  test('eginnovations-operator/0.0.2 installs and goes', async () => {
    const bundle = 'eginnovations-operator/0.0.2';
    const [name, version] = [deploymentName(bundle), { content: contentOf(bundle), tag: 'v1' }];
    await life.deploy(name, version);
    await life.condition(name, 'Installed', { status: 'True', reason: 'InstallationSucceeded' });
    await life.expectContent(name, version);
    await life.remove(name, version);
  });

  test('dynatrace-operator/0.8.0 has a field that no Deployment has, and installs without it', async () => {
    const name = 'dynatrace-operator';
    const version = { content: contentOf('dynatrace-operator/0.8.0'), tag: 'v1' };
    const objects = await life.objectsOf(version);
    await life.deploy(name, version);
    await life.condition(name, 'Healthy', { status: 'True', reason: 'Healthy' });
    const owned = identitiesOf(await ownedObjects(kubectl, name, objects));
    expect(owned).toEqual(identitiesOf(objects));
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    expect(deployments).toHaveLength(2);
    const text = await eventually(async () => {
      const description = await kubectl.must(['describe', 'bundledeployment', name]);
      expect(description.match(/Warning +FieldsDropped/g)).toHaveLength(2);
      return description;
    });
    expect(text.match(/repeated list items: spec\.template\.containers\n/g)).toHaveLength(2);
    await life.remove(name, version);
  });
});
