import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import { DiscoveryClient } from '../../core/platform/kube/discovery/discovery.ts';
import { connect, type KubeClient } from '../../core/platform/kube/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aCRD, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushChart } from '../helpers/push-chart.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { customResourcesAreServed } from '../helpers/served-kinds.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const systemNamespace = 'rukpak-system';
const other = 'facts-elsewhere';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', [other], { wait: false, ignoreNotFound: true });
  await system.stop();
});

async function live(name: string): Promise<BundleDeployment> {
  return (await kubectl.get('bundledeployment', name)) as BundleDeployment;
}

/** Waits until the present spec is installed. */
async function isInstalled(name: string): Promise<BundleDeployment> {
  return await eventually(async () => {
    const deployment = await live(name);
    expect(deployment.status?.observedGeneration).toBe(deployment.metadata.generation);
    const isTrue = expect.objectContaining({ type: 'Installed', status: 'True' });
    expect(deployment.status?.conditions).toContainEqual(isTrue);
    return deployment;
  });
}

async function says(name: string, reason: string): Promise<Condition> {
  return await eventually(async () => {
    const condition = conditionOf(await live(name), 'Progressing');
    expect(condition?.reason).toBe(reason);
    return condition as Condition;
  });
}

async function restartIn(namespace: string): Promise<void> {
  await system.terminate();
  await system.restart([`--system-namespace=${namespace}`]);
}

describe('the namespace of objects that name none', () => {
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'facts-place' } };

  async function rollOut(version: number, spec: object = {}): Promise<void> {
    const objects = [{ ...settings, data: { version: String(version) } }];
    await rollOutPlain(
      { kubectl, registry, prefix: 'facts' },
      { name: 'place', version, objects, spec },
    );
  }

  test('stays the one of the first installation, whatever the system namespace is by now', async () => {
    await rollOut(1);
    const { status } = await isInstalled('place');
    expect(status?.installNamespace).toBe(systemNamespace);
    const before = await kubectl.get('configmap', 'facts-place', systemNamespace);
    await restartIn(other);
    try {
      await rollOut(2);
      await eventually(async () => {
        const after = await kubectl.get('configmap', 'facts-place', systemNamespace);
        expect(after['data']).toEqual({ version: '2' });
        expect(after.metadata.uid).toBe(before.metadata.uid);
      });
      expect(await kubectl.exists('configmap', 'facts-place', other)).toBe(false);
    } finally {
      await restartIn(systemNamespace);
    }
  });

  test('is the one that the spec asks for first, and another one moves nothing', async () => {
    await rollOut(1, { installNamespace: other });
    await isInstalled('place');
    expect(await kubectl.exists('configmap', 'facts-place', other)).toBe(true);
    await rollOut(2, { installNamespace: 'default' });
    const { message } = await says('place', 'InstallNamespaceChanged');
    expect(message).toContain(`set spec.installNamespace to "${other}"`);
    expect(await kubectl.exists('configmap', 'facts-place', other)).toBe(true);
    expect(await kubectl.exists('configmap', 'facts-place', 'default')).toBe(false);
    await rollOut(2, { installNamespace: other });
    await isInstalled('place');
    const { data } = (await kubectl.get('configmap', 'facts-place', other)) as { data?: unknown };
    expect(data).toEqual({ version: '2' });
  });
});

describe('facts that change', () => {
  // A group of its own: it goes with its only kind.
  const inGroup = JSON.stringify(aCRD('Gizmo')).replaceAll('e2e.example', 'facts.example');
  const gizmos = JSON.parse(inGroup) as KubernetesObject;
  const className = 'core-rukpak-io-helm';
  const template = `{{- if .Capabilities.APIVersions.Has "facts.example.com/v1/Gizmo" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: facts-watched, namespace: default}
---
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: facts-always, namespace: default}
data: {serves: {{ .Capabilities.APIVersions.Has "facts.example.com/v1/Gizmo" | quote }}}
`;

  beforeEach(async () => {
    await kubectl.apply(gizmos);
    await customResourcesAreServed(kubectl, [gizmos]);
    // Core does not watch the CRDs of others: a new process asks what there is.
    await restartIn(systemNamespace);
  });

  afterEach(async () => {
    await kubectl.deleteNamed('crd', ['gizmos.facts.example.com'], { ignoreNotFound: true });
  });

  async function rollOut(name: string, spec: object = {}): Promise<void> {
    const files = {
      'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      'web/templates/all.yaml': template,
    };
    const repository = `e2e/charts/facts-${name}`;
    await pushChart({ registry, repository, tag: '1.0.0', files });
    const source = anImage(`${registry}/${repository}:1.0.0`);
    const bundle = { spec: { provisionerClassName: className, source } };
    const fields = { provisionerClassName: className, template: bundle, ...spec };
    const apiVersion = 'core.rukpak.io/v1alpha1';
    const metadata = { name };
    await kubectl.apply({ apiVersion, kind: 'BundleDeployment', metadata, spec: fields });
  }

  async function loseKind(): Promise<void> {
    await kubectl.deleteNamed('crd', ['gizmos.facts.example.com']);
    await eventually(async () => {
      expect(await kubectl.must(['get', '--raw', '/apis'])).not.toContain('facts.example.com');
    }, patiently);
    await restartIn(systemNamespace);
  }

  async function isThere(name: string): Promise<boolean> {
    return await kubectl.exists('configmap', name, 'default');
  }

  test('are not taken from an answer that lacks what is defined, as after an API server starts', async () => {
    const kube = connect({ kubeconfig, userAgent: 'tests' });
    let isStarting = false;
    const request: KubeClient['request'] = async (sent) => {
      const answer = await kube.client.request(sent);
      const { items = [] } = answer as { items?: readonly KubernetesObject[] };
      const built = items.filter(({ metadata }) => !metadata.name?.endsWith('.example.com'));
      return isStarting && sent.path === '/apis' ? { ...(answer as object), items: built } : answer;
    };
    const list: KubeClient['list'] = async (...query) => await kube.client.list(...query);
    const discovery = new DiscoveryClient({ request, list } as KubeClient);
    const gizmo = ['facts.example.com', 'Gizmo'] as const;
    const served = 'facts.example.com/v1/Gizmo';
    try {
      expect(await discovery.apiVersions()).toContain(served);
      isStarting = true;
      discovery.invalidate();
      expect(await discovery.apiVersions()).toContain(served);
      await expect(discovery.resourceForGroupKind(...gizmo)).rejects.toThrow(
        'does not list it now',
      );
      await kubectl.deleteNamed('crd', ['gizmos.facts.example.com']);
      discovery.invalidate();
      expect(await discovery.resourceForGroupKind(...gizmo)).toBeUndefined();
      expect(await discovery.apiVersions()).toContain(served);
    } finally {
      await kube.close();
    }
  });

  test('delete nothing unasked: what they take away waits to be confirmed', async () => {
    await rollOut('lost');
    await isInstalled('lost');
    expect(await isThere('facts-watched')).toBe(true);
    await loseKind();
    const { message } = await says('lost', 'PruneHeld');
    expect(message).toContain('not deleted: ConfigMap/default/facts-watched');
    expect(message).toContain('API group facts.example.com is not served any more');
    expect(await isThere('facts-watched')).toBe(true);
    const digest = (await live('lost')).status?.heldPrune?.digest;
    const confirm = `core.rukpak.io/confirm-prune=${digest}`;
    await kubectl.must(['annotate', 'bundledeployment', 'lost', confirm]);
    await eventually(async () => expect(await isThere('facts-watched')).toBe(false));
  });

  test('are a new plan with upgradePolicy Manual', async () => {
    await rollOut('planned');
    await isInstalled('planned');
    await rollOut('planned', { upgradePolicy: 'Manual' });
    await eventually(async () => {
      expect((await live('planned')).status?.approval?.objects).toBeDefined();
    });
    await loseKind();
    await says('planned', 'AwaitingApproval');
    const { plan } = (await live('planned')).status ?? {};
    expect(plan).toMatchObject({ change: 1, delete: 1 });
    expect(await isThere('facts-watched')).toBe(true);
    const data = async () => (await kubectl.get('configmap', 'facts-always', 'default'))['data'];
    expect(await data()).toEqual({ serves: 'true' });
    const approve = `core.rukpak.io/approve=${plan?.digest}`;
    await kubectl.must(['annotate', 'bundledeployment', 'planned', approve]);
    await eventually(async () => expect(await data()).toEqual({ serves: 'false' }));
    await eventually(async () => expect(await isThere('facts-watched')).toBe(false));
  });
});

describe('generated values', () => {
  const className = 'core-rukpak-io-helm';
  const template = `apiVersion: v1
kind: Secret
metadata: {name: facts-login, namespace: default}
data: {password: {{ randAlphaNum 16 | b64enc | quote }}}
`;

  async function rollOut(spec: object = {}): Promise<void> {
    const files = {
      'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
      'web/templates/all.yaml': template,
    };
    const repository = 'e2e/charts/facts-generated';
    await pushChart({ registry, repository, tag: '1.0.0', files });
    const source = anImage(`${registry}/${repository}:1.0.0`);
    const bundle = { spec: { provisionerClassName: className, source } };
    await kubectl.apply({
      apiVersion: 'core.rukpak.io/v1alpha1',
      kind: 'BundleDeployment',
      metadata: { name: 'generated' },
      spec: { provisionerClassName: className, template: bundle, ...spec },
    });
  }

  async function password(): Promise<unknown> {
    return (await kubectl.get('secret', 'facts-login', 'default'))['data'];
  }

  async function loseSeed(): Promise<KubernetesObject> {
    await system.terminate();
    const { metadata, ...seed } = await kubectl.get('secret', 'rukpak-seed', systemNamespace);
    await kubectl.deleteNamed('secret', ['rukpak-seed'], { namespace: systemNamespace });
    const { name = '', namespace = '' } = metadata;
    return { ...seed, metadata: { name, namespace } };
  }

  async function accept(): Promise<void> {
    const { message } = await says('generated', 'SeedChanged');
    const [asked = ''] = /core\.rukpak\.io\/accept-new-seed=\w+/.exec(message) ?? [];
    await kubectl.must(['annotate', 'bundledeployment', 'generated', asked]);
  }

  test('outlive the loss of the seed, until it is back or new ones are accepted', async () => {
    await rollOut();
    await isInstalled('generated');
    const before = await password();
    const backup = await loseSeed();
    await system.restart();
    const { message } = await says('generated', 'SeedChanged');
    expect(message).toContain('generated values of Secret/default/facts-login');
    expect(await password()).toEqual(before);

    await loseSeed();
    await kubectl.apply(backup);
    await system.restart();
    await eventually(async () => {
      expect(conditionOf(await live('generated'), 'Progressing')).toBeUndefined();
    });
    expect(await password()).toEqual(before);

    await loseSeed();
    await system.restart();
    await accept();
    await eventually(async () => expect(await password()).not.toEqual(before));
  });

  test('of a Secret that a deployment has left are not overwritten by the next one', async () => {
    await rollOut({ deletionPolicy: 'Orphan' });
    await isInstalled('generated');
    const before = await password();
    await kubectl.deleteNamed('bundledeployment', ['generated']);
    await loseSeed();
    await system.restart();
    await rollOut({ adoption: 'Always' });
    const { message } = await says('generated', 'SeedChanged');
    expect(message).toContain('Secret/default/facts-login of BundleDeployment "generated" exist');
    expect(await password()).toEqual(before);
    await accept();
    await eventually(async () => expect(await password()).not.toEqual(before));
  });
});
