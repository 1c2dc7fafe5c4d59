// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import { type BundleFiles, defaultLimits } from '../../core/sdk.ts';
import { changedCopy } from '../helpers/changed-copy.ts';
import { clusterFacts } from '../helpers/cluster-facts.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { OperatorLife, type OperatorVersion } from '../helpers/operator-life.ts';
import { plane } from '../helpers/plane.ts';
import { realBundleDirectory, realBundlesArePresent } from '../helpers/real-bundles.ts';
import { aTree } from '../helpers/registry-bundle.ts';
import { System } from '../helpers/system.ts';

const present = realBundlesArePresent();
let system: System;
let kubectl: Kubectl;
let life: OperatorLife;

beforeAll(async () => {
  if (!present) return;
  const [kubeconfig, registry] = [plane.kubeconfig, plane.registry];
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  system = await System.start({ kubeconfig, registry });
  life = new OperatorLife({ kubectl, registry, cluster: await clusterFacts(kubeconfig) });
});

afterAll(async () => {
  if (!present) return;
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await system.stop();
});

function contentOf(bundle: string): BundleFiles {
  return loadDirectory(realBundleDirectory(bundle), defaultLimits);
}

const webhookConfigurations =
  'validatingwebhookconfigurations,mutatingwebhookconfigurations' as const;

/** What operators bring to a cluster, and what of it stays for good where nobody looks. */
const kinds = `namespaces,customresourcedefinitions,clusterroles,clusterrolebindings,${webhookConfigurations},priorityclasses,apiservices,secrets,services,serviceaccounts,configmaps,roles,rolebindings,deployments`;

async function everything(): Promise<readonly string[]> {
  const objects = await kubectl.list(kinds);
  return objects
    .map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`)
    .toSorted();
}

/**
 * Expects nothing in the cluster that was not there before; what others have left may go meanwhile.
 * Kinds that are gone are out of discovery a moment later.
 */
async function expectOnly(before: readonly string[]): Promise<void> {
  const there = new Set(before);
  const left = async () => (await everything()).filter((each) => !there.has(each));
  await eventually(async () => expect(await left()).toEqual([]), {
    within: 600_000,
    every: 1_000,
  });
}

/** How many webhooks of an operator, and conversions of its kinds, the API server can trust. */
async function trusted(
  name: string,
): Promise<{ readonly webhooks: number; readonly crds: number }> {
  const owned = `core.rukpak.io/owner-name=${name}`;
  const configurations = await kubectl.list(webhookConfigurations, owned);
  const webhooks = configurations.flatMap(
    (each) => each['webhooks'] as readonly { readonly clientConfig: { caBundle?: string } }[],
  );
  const trusting = webhooks.filter(({ clientConfig }) => isAuthority(clientConfig.caBundle));
  expect(trusting).toHaveLength(webhooks.length);
  const definitions = await kubectl.list('customresourcedefinitions', owned);
  const converted = definitions.filter((each) => isAuthority(conversionAuthority(each)));
  return { webhooks: webhooks.length, crds: converted.length };
}

function isAuthority(caBundle: string | undefined): boolean {
  return Buffer.from(caBundle ?? '', 'base64')
    .toString()
    .startsWith('-----BEGIN CERTIFICATE-----');
}

function conversionAuthority({ spec }: KubernetesObject): string | undefined {
  const { conversion } = spec as {
    readonly conversion?: { readonly webhook?: { readonly clientConfig?: { caBundle?: string } } };
  };
  return conversion?.webhook?.clientConfig?.caBundle;
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

describe.skipIf(!present)('a large operator with webhooks', () => {
  test.each([
    { bundle: 'edp-keycloak-operator/1.33.0', webhooks: 2, crds: 0 },
    { bundle: 'sn-operator/0.19.7', webhooks: 11, crds: 3 },
  ])(
    '$bundle installs, is upgraded and leaves nothing',
    async ({ bundle, ...expected }) => {
      const [name = ''] = bundle.split('/');
      const before = await everything();
      const version = { content: contentOf(bundle), tag: 'v1' };
      await life.deploy(name, version);
      await life.expectHealthy(name, version);
      expect(await trusted(name)).toEqual(expected);
      const copy = aTree(changedCopy(Object.fromEntries(version.content.files), name));
      const changed = { content: copy, tag: 'v2' };
      await life.upgrade(name, changed);
      expect(await trusted(name)).toEqual(expected);
      await life.remove(name, changed);
      await expectOnly(before);
    },
    1_800_000,
  );
});

describe.skipIf(!present)('vault-config-operator', () => {
  const name = 'vault-config-operator';
  let older: OperatorVersion;
  let newer: OperatorVersion;
  let before: readonly string[];

  beforeAll(() => {
    older = { content: contentOf(`${name}/0.8.49`), tag: 'v0.8.49' };
    newer = { content: contentOf(`${name}/0.8.52`), tag: 'v0.8.52' };
  });

  test('goes on without a kind that the cluster does not have', async () => {
    before = await everything();
    await life.deploy(name, older);
    await life.condition(name, 'Installed', { status: 'True' });
    const told = (await kubectl.list('events')).map(({ message }) => String(message)).join('\n');
    expect(told).toContain('The cluster does not serve ServiceMonitor.monitoring.coreos.com');
  });

  test('has the objects of it once it is there', async () => {
    await kubectl.apply(aServiceMonitorCRD());
    await eventually(async () => {
      const monitors = await kubectl.list('servicemonitors.monitoring.coreos.com');
      expect(monitors).toHaveLength(1);
    }, patiently);
    await life.expectHealthy(name, older);
    expect(await trusted(name)).toMatchObject({ webhooks: 82 });
  });

  test('is upgraded to 0.8.52, and what only the old version had is pruned', async () => {
    await life.upgrade(name, newer);
    expect(await trusted(name)).toMatchObject({ webhooks: 86 });
  });

  test('is deleted, and leaves nothing', async () => {
    await life.remove(name, newer);
    await kubectl.deleteNamed('crd', ['servicemonitors.monitoring.coreos.com']);
    await expectOnly(before);
  }, 1_800_000);
});
