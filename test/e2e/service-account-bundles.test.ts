import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDirectory } from '../../cmd/ctl/content/load-content.ts';
import { defaultLimits } from '../../core/sdk.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, anImage, aServiceAccount } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { realBundles, realBundlesArePresent } from '../helpers/real-bundles.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { customResourcesAreServed } from '../helpers/served-kinds.ts';
import { smallBundles } from '../helpers/small-bundles.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const namespace = 'privilege-bundles';
const installNamespace = 'privilege-operators';

let kubectl: Kubectl;
let system: System;
let folder: string;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  system = await System.start({ kubeconfig, registry });
  const names = [namespace, installNamespace];
  await kubectl.apply(
    ...names.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  );
  folder = await mkdtemp(join(tmpdir(), 'privilege-bundles-'));
});

afterAll(async () => {
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteNamed('namespace', [namespace, installNamespace], {
    wait: false,
    ignoreNotFound: true,
  });
  await rm(folder, { recursive: true, force: true });
  await system.stop();
});

/** A file with a spec.config. */
async function written(config: object): Promise<string> {
  const file = join(folder, 'config.json');
  await writeFile(file, JSON.stringify(config));
  return file;
}

interface Installed {
  readonly bundle: string;
  readonly config?: object;
}

/** In a namespace of its own: what goes to another is a Role there. */
function inNamespace(bundle: string, watchNamespace: string): Installed {
  return { bundle, config: { installNamespace, watchNamespace } };
}

function directoryOf(bundle: string): string {
  const tested = [...smallBundles, ...realBundles].find(({ name }) => name === bundle);
  if (tested === undefined) throw new Error(`no bundle is called ${bundle}`);
  return tested.directory(folder);
}

/** They have namespaces, CRDs, workloads, webhooks, and roles of all kinds. */
const bundles = [
  'bpfman-operator/0.4.1',
  'cert-manager/1.9.1-rc1',
  'clickhouse/0.26.1',
  'flux/0.13.4',
  'infinispan/2.2.1',
  'k8gb/0.11.4',
  'konflux/0.0.4',
  'kuadrant-operator/0.4.0',
  'sap-data-intelligence-observer-operator/1.0.1',
];

function permissionsSuffice(installed: readonly Installed[]): void {
  test.each(installed)(
    '$bundle comes and goes',
    async ({ bundle, config }) => {
      const [name = ''] = bundle.split('/');
      const directory = directoryOf(bundle);
      const account = aServiceAccount(name) as { metadata: object };
      await kubectl.apply({ ...account, metadata: { ...account.metadata, namespace } });
      const { stdout } = await rukpakctl([
        'permissions',
        directory,
        `--service-account=${namespace}/${name}`,
        ...(config === undefined ? [] : [`--config=${await written(config)}`]),
      ]);
      await kubectl.must(['apply', '-f', '-'], stdout);

      const files = Object.fromEntries(loadDirectory(directory, defaultLimits).files);
      const repository = `privilege/${name}`;
      await pushImage({ registry, repository, tag: 'v1', layers: [{ files }] });
      const source = anImage(`${registry}/${repository}:v1`);
      const deployment = aBundleDeployment({
        name,
        source,
        className: 'core-rukpak-io-registry',
      }) as { spec: object };
      // So that the deletion is ours, and not the garbage collector's.
      const stages = { waitForReady: true };
      const serviceAccount = { namespace, name };
      await kubectl.apply({
        ...deployment,
        spec: { ...deployment.spec, config, serviceAccount, stages },
      });
      await eventually(async () => {
        const live = await kubectl.get('bundledeployment', name);
        expect(conditionOf(live, 'Installed')).toMatchObject({ status: 'True' });
      }, patiently);
      const owned = `core.rukpak.io/owner-name=${name}`;
      const definitions = await kubectl.list('customresourcedefinitions', owned);
      await customResourcesAreServed(kubectl, definitions);
      await kubectl.deleteNamed('bundledeployment', [name]);
      await kubectl.must(['delete', '-f', '-', '--ignore-not-found'], stdout);
    },
    1_800_000,
  );
}

describe('with what rukpakctl permissions prints for a small bundle, and nothing more,', () => {
  permissionsSuffice([
    { bundle: 'small-operator/1.0.0' },
    { bundle: 'small-webhooks/1.0.0' },
    inNamespace('small-owner/1.0.0', installNamespace),
  ]);
});

describe.runIf(realBundlesArePresent())(
  'with what rukpakctl permissions prints, and nothing more,',
  { tags: 'long' },
  () => {
    permissionsSuffice([
      ...bundles.map((bundle) => ({ bundle })),
      inNamespace('pelorus-operator/0.0.2', 'default'),
    ]);
  },
);
