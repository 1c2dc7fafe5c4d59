import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { Certificates, defaultCertificates } from '../../core/bundle-deployment/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import type { ClusterFacts } from '../../core/sdk.ts';
import { clusterFacts } from '../helpers/cluster-facts.ts';
import { type Refusal, refusalsOf } from '../helpers/dry-run.ts';
import { EventList } from '../helpers/event-list.ts';
import { eventually } from '../helpers/eventually.ts';
import { configOf, type InstallMode, modeNamespaces } from '../helpers/install-modes.ts';
import { installedBundle } from '../helpers/installed-bundle.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { realBundles, realBundlesArePresent } from '../helpers/real-bundles.ts';
import { customResourcesAreServed, type DefinitionSpec } from '../helpers/served-kinds.ts';
import { smallBundles } from '../helpers/small-bundles.ts';
import { aStoredDeployment } from '../helpers/stored-objects.ts';
import type { TestedBundle } from '../helpers/tested-bundle.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const namespaces = [modeNamespaces.install, ...modeNamespaces.watched];

let kube: KubeConnection;
let cluster: ClusterFacts;
let certificates: Certificates;

beforeAll(async () => {
  const kubeconfig = plane.kubeconfig;
  kube = connect({ kubeconfig, userAgent: 'real-bundle-modes' });
  cluster = await clusterFacts(kubeconfig);
  certificates = new Certificates({
    ...defaultCertificates,
    ...kube,
    clock: systemClock,
    events: new EventList(),
    systemNamespace: cluster.systemNamespace,
  });
  const metadata = namespaces.map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
  // An earlier run's may still be going.
  await eventually(async () => {
    await kubectl.apply(...metadata);
    for (const name of namespaces) {
      expect(await kubectl.get('namespace', name)).toMatchObject({ status: { phase: 'Active' } });
    }
  });
});

afterAll(async () => {
  await kube.close();
  await kubectl.deleteNamed('namespace', namespaces, { wait: false });
});

/** What one bundle in one mode would be to the API server, with the certificates that core gives. */
async function objectsOf({ name, required, content }: TestedBundle, mode: InstallMode) {
  const apiVersions = [...cluster.apiVersions, ...required];
  const config = configOf[mode];
  const objects = await installedBundle(content(), {
    config,
    cluster: { ...cluster, apiVersions },
  });
  const { signal } = new AbortController();
  const deployment = aStoredDeployment({ name: `${name} ${mode}` });
  return (await certificates.certify({ deployment, objects, signal })).objects;
}

/** Why the API server would not take some objects, other than for kinds that others bring. */
function unexplained(refusals: readonly Refusal[], { foreign }: TestedBundle): readonly Refusal[] {
  const kinds = foreign.map((kind) => `no kind ${kind.replace(/\/(\w+)$/, ' $1')}`);
  return refusals.filter(({ message }) => !kinds.includes(message));
}

/** What would be refused all the same, in one sentence each. */
const faults: Readonly<Record<string, readonly Refusal[]>> = {
  // Left out when it is installed, and an Event says so.
  'dynatrace-operator/0.8.0': ['dynatrace-operator', 'dynatrace-webhook'].map((name) => ({
    object: `Deployment ${name}`,
    message: `failed to create typed patch object (real-bundles/${name}; apps/v1, Kind=Deployment): .spec.template.containers: field not declared in schema`,
  })),
};

/** A test of each bundle in each mode that its CSV allows. */
function dryRuns(bundles: readonly TestedBundle[]): void {
  const accepted = bundles.flatMap((bundle) =>
    [...bundle.modes]
      .filter(([, outcome]) => typeof outcome === 'number')
      .map(([mode]) => ({ ...bundle, mode })),
  );
  test.each(accepted)('$name for $mode', async ({ mode, ...bundle }) => {
    const objects = await objectsOf(bundle, mode);
    await using _definitions = await applied(definitionsInUse(objects));
    const refusals = await refusalsOf(kube, objects);
    expect(unexplained(refusals, bundle)).toEqual(faults[bundle.name] ?? []);
  });
}

describe('the API server takes every object of a small bundle,', () => {
  dryRuns(smallBundles);
});

describe.skipIf(!realBundlesArePresent())(
  'the API server takes every object of',
  { tags: 'long' },
  () => {
    dryRuns(realBundles);
  },
);

/** The CRDs among objects that others among them are of: a dry run does not bring those kinds. */
function definitionsInUse(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const groups = new Set(
    objects.map(({ apiVersion, kind }) => `${apiVersion.split('/')[0]} ${kind}`),
  );
  return objects.filter((object) => {
    const { group, names } = (object['spec'] ?? {}) as { group?: string; names?: { kind: string } };
    return object.kind === 'CustomResourceDefinition' && groups.has(`${group} ${names?.kind}`);
  });
}

/** What is established is known to discovery a moment later. */
async function areDiscovered(definitions: readonly KubernetesObject[]): Promise<void> {
  kube.discovery.invalidate();
  for (const { spec } of definitions) {
    const { group, names, versions } = spec as DefinitionSpec;
    for (const { name: version } of versions.filter(({ served }) => served)) {
      const kind = { group, version, kind: names.kind };
      expect(await kube.discovery.resourceFor(kind), JSON.stringify(kind)).toBeDefined();
    }
  }
}

async function applied(definitions: readonly KubernetesObject[]): Promise<AsyncDisposable> {
  const names = definitions.map(({ metadata }) => `crd/${metadata.name}`);
  if (names.length > 0) {
    await kubectl.apply(...definitions);
    await kubectl.must(['wait', '--for=condition=Established', '--timeout=180s', ...names]);
    await customResourcesAreServed(kubectl, definitions);
    await eventually(() => areDiscovered(definitions));
  }
  return {
    [Symbol.asyncDispose]: async () => {
      if (names.length > 0) await kubectl.must(['delete', ...names]);
    },
  };
}
