import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  type FrontServer,
  startRegistryAt,
  startSilentServer,
} from '../helpers/hostile-registries.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundle, aBundleDeployment, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushChart } from '../helpers/push-chart.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

/** What one tenant does, and what another one waits for meanwhile. */
const { registry, kubeconfig } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const servers = 20;
const bundlesEach = 4;
/** Of others than the administrator that these tests are. */
const serviceAccount = { namespace: 'fairness-tenant', name: 'installer' };

let system: System;
/** On many ports of one machine, and one on each of many machines. */
let ports: readonly FrontServer[];
let machines: readonly FrontServer[];
let elsewhere: FrontServer;

beforeAll(async () => {
  const indexes = Array.from({ length: servers }, (_, index) => index);
  ports = await Promise.all(indexes.map(() => startSilentServer()));
  machines = await Promise.all(indexes.map((index) => startSilentServer(`127.0.1.${index + 1}`)));
  elsewhere = await startRegistryAt('127.0.0.2', registry);
  const flags = [...ports, ...machines, elsewhere].map(({ host }) => `--insecure-registry=${host}`);
  system = await System.start({ kubeconfig, registry, flags });
  const { namespace } = serviceAccount;
  await kubectl.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: serviceAccount },
  );
  for (const name of ['fair-machine', 'fair-creator']) {
    const files = plainFiles([aConfigMap(name)]);
    await pushContent({ registry, name, version: 1, files });
  }
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await kubectl.deleteAll('bundles');
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', [serviceAccount.namespace], {
    wait: false,
    ignoreNotFound: true,
  });
  await system.stop();
  await Promise.all([...ports, ...machines, elsewhere].map((server) => server.close()));
});

function requests(attacked: readonly FrontServer[]): number {
  return attacked.reduce((sum, server) => sum + server.requests, 0);
}

/** Bundles of that many servers that never answer: more than may wait for slow servers. */
function stalledBundles(attacked: readonly FrontServer[]): readonly object[] {
  return attacked.flatMap(({ host }, server) =>
    Array.from({ length: bundlesEach }, (_, index) =>
      aBundle({ name: `stalled-${server}-${index}`, source: anImage(`${host}/app-${index}:v1`) }),
    ),
  );
}

/** Those that core has given up for now: others would have had their places since. */
async function givenUp(): Promise<number> {
  const bundles = await kubectl.list('bundles');
  return bundles.filter((bundle) => {
    const { phase } = (bundle['status'] ?? {}) as BundleStatus;
    return bundle.metadata.name?.startsWith('stalled') && phase === 'Pending';
  }).length;
}

async function expectInstalledBeside(name: string): Promise<void> {
  await kubectl.apply(
    aBundleDeployment({ name, source: anImage(`${elsewhere.host}/e2e/${name}:v1`) }),
  );
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
  });
}

describe('80 Bundles of servers that never answer delay nobody else', () => {
  test.each([
    ['on the ports of one machine', 'fair-machine', () => ports],
    ['on machines of their own', 'fair-creator', () => machines],
  ])('%s', async (_, name, attacked) => {
    await kubectl.apply(...stalledBundles(attacked()));
    await eventually(() => expect(requests(attacked())).toBeGreaterThanOrEqual(bundlesEach));
    await expectInstalledBeside(name);
    expect(await givenUp()).toBe(0);
  });
});

const className = 'core-rukpak-io-helm';

async function chart(name: string, template: string): Promise<string> {
  const repository = `e2e/charts/${name}`;
  const files = {
    'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
    'web/templates/web.yaml': template,
  };
  await pushChart({ registry, repository, tag: '1.0.0', files });
  return `${registry}/${repository}:1.0.0`;
}

function aChart(name: string, ref: string, spec: object = {}): object {
  const template = { spec: { provisionerClassName: className, source: anImage(ref) } };
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name },
    spec: { provisionerClassName: className, template, ...spec },
  };
}

/** Those that were given up. */
async function outOfTime(names: readonly string[]): Promise<readonly string[]> {
  const deployments = await Promise.all(names.map((name) => kubectl.get('bundledeployment', name)));
  const failed = deployments.filter((deployment) => {
    return conditionOf(deployment, 'HasValidBundle')?.reason === 'BundleLoadFailed';
  });
  return failed.map(({ metadata }) => metadata.name ?? '');
}

test('endless charts delay no other creator’s', { tags: 'long' }, async () => {
  const endless = await chart(
    'endless',
    '{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}',
  );
  const good = await chart('good', JSON.stringify(aConfigMap('fair-chart')));
  const names = ['endless-0', 'endless-1', 'endless-2', 'endless-3'];
  await kubectl.apply(...names.map((name) => aChart(name, endless, { serviceAccount })));
  await eventually(async () => {
    const bundles = await kubectl.list('bundles');
    const phases = bundles.map(({ status }) => (status as BundleStatus | undefined)?.phase);
    expect(phases).toEqual(names.map(() => 'Unpacked'));
  });
  await kubectl.apply(aChart('good', good));
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', 'good');
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
  });
  // In the order of arrival all of them would have had their turn before.
  expect((await outOfTime(names)).length).toBeLessThan(names.length);
});
