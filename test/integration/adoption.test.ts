import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { removeReleases } from '../../cmd/ctl/deployments/release-removal.ts';
import { ApplyEngine } from '../../core/apply/index.ts';
import type { ObjectEvent } from '../../core/contracts/event-sink.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { DiscoveryClient } from '../../core/platform/kube/discovery/discovery.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { CountingClient } from '../helpers/counting-client.ts';
import { type FormerContent, FormerRukpak } from '../helpers/former-rukpak/former-rukpak.ts';
import { inProcessJudge } from '../helpers/in-process-judge.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const run = randomBytes(3).toString('hex');
const namespace = `adoption-${run}`;
const className = 'adoption-test';
const setID = 'applyset.kubernetes.io/id';
const connection = connect({ userAgent: 'rukpak-core/test', kubeconfig: plane.kubeconfig });
const former = new FormerRukpak(kubectl, namespace);

let serial = 0;
let stop: AbortController;
let client: CountingClient;
let engine: ApplyEngine;
let events: ObjectEvent[];

function anEngine(): ApplyEngine {
  return new ApplyEngine({
    client,
    discovery: new DiscoveryClient(connection.client),
    clock: systemClock,
    logger: silentLogger,
    judge: inProcessJudge,
    events: { event: (_regarding, event) => void events.push(event) },
    systemNamespace: namespace,
    signal: stop.signal,
  });
}

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  await kubectl.must(['create', 'namespace', namespace]);
});

beforeEach(() => {
  serial += 1;
  stop = new AbortController();
  client = new CountingClient(connection.client);
  events = [];
  engine = anEngine();
});

afterEach(async () => {
  stop.abort();
  await kubectl.remove('bundledeployment', nameOf());
  for (const { metadata } of await kubectl.list(
    'bundles',
    `core.rukpak.io/owner-name=${nameOf()}`,
  )) {
    await kubectl.remove('bundle', metadata.name ?? '');
  }
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', [namespace], { wait: false, ignoreNotFound: true });
  await connection.close();
});

function nameOf(): string {
  return `ad-${run}-${serial}`;
}

function anObject(kind: string, fields: object = {}, metadata: object = {}): KubernetesObject {
  const { name = nameOf(), ...more } = metadata as { name?: string };
  return { apiVersion: 'v1', kind, metadata: { name, namespace, ...more }, ...fields };
}

function configMap(data: object, metadata: object = {}): KubernetesObject {
  return anObject('ConfigMap', { data }, metadata);
}

async function installed(
  revisions: FormerContent['revisions'],
  releaseStatus = 'deployed',
): Promise<BundleDeployment> {
  await former.install({
    name: nameOf(),
    className,
    template: { spec: { provisionerClassName: className, source: anImage('x') } },
    resolvedSource: anImage('x@sha256:0'),
    revisions,
    releaseStatus,
  });
  return await deployment();
}

async function deployment(): Promise<BundleDeployment> {
  return (await kubectl.get('bundledeployment', nameOf())) as BundleDeployment;
}

async function live(kind: string, name = nameOf()): Promise<KubernetesObject> {
  return await kubectl.get(kind, name, namespace);
}

function apply(owner: BundleDeployment, ...objects: readonly KubernetesObject[]) {
  return engine.apply({ owner, objects, signal: AbortSignal.timeout(240_000) });
}

function restart(): void {
  stop.abort();
  stop = new AbortController();
  engine = anEngine();
}

const helmMarks = {
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
  annotations: { 'meta.helm.sh/release-name': expect.any(String) },
};

describe('the fields of an object', () => {
  test('are ours after the first apply, and what the next one drops goes', async () => {
    const owner = await installed([
      [configMap({ a: '1', b: '2' })],
      [configMap({ a: '1', c: '3' })],
    ]);
    const before = await live('configmap');
    expect(await apply(owner, configMap({ a: '1', c: '3' }))).toMatchObject({
      changes: 1,
      complete: true,
    });
    const adopted = await live('configmap');
    expect(adopted).toMatchObject({ data: { a: '1', c: '3' }, metadata: helmMarks });
    expect(adopted.metadata.uid).toBe(before.metadata.uid);
    await apply(await deployment(), configMap({ a: '1' }));
    const after = await live('configmap');
    expect(after).toMatchObject({ data: { a: '1' }, metadata: helmMarks });
    expect(after['data']).toEqual({ a: '1' });
  });

  test('are taken over only once', async () => {
    const owner = await installed([[configMap({ a: '1' })]]);
    await apply(owner, configMap({ a: '1' }));
    client.taken();
    restart();
    expect(await apply(await deployment(), configMap({ a: '1' }))).toMatchObject({
      changes: 0,
      complete: true,
    });
    expect(client.taken()).toEqual([]);
  });

  test('that others have set stay', async () => {
    const owner = await installed([[configMap({ a: '1', b: '2' })]]);
    const text = JSON.stringify({ data: { b: 'own', own: 'x' } });
    await kubectl.must([
      'patch',
      'configmap',
      nameOf(),
      '-n',
      namespace,
      '--type=merge',
      '-p',
      text,
    ]);
    await apply(owner, configMap({ a: '1' }));
    expect((await live('configmap'))['data']).toEqual({ a: '1', b: 'own', own: 'x' });
  });

  test('that RukPak repaired are ours too, and go where the next version drops them', async () => {
    const owner = await installed([[configMap({ a: '1', b: '2' })]]);
    await patchAs('kubectl-edit', { b: 'by hand' });
    await patchAs('Go-http-client', { b: '2' });
    await apply(owner, configMap({ a: '1', b: '2' }));
    await apply(await deployment(), configMap({ a: '1' }));
    expect((await live('configmap'))['data']).toEqual({ a: '1' });
  });

  test('of an unnamed program stay once the object is ours, unless RukPak had it back', async () => {
    const owner = await installed([[configMap({ a: '1' })]]);
    await apply(owner, configMap({ a: '1' }));
    await patchAs('Go-http-client', { late: 'x' });
    restart();
    await apply(await deployment(), configMap({ a: '1' }));
    expect((await live('configmap'))['data']).toEqual({ a: '1', late: 'x' });
    await kubectl.must(['label', 'bundledeployment', nameOf(), `${setID}-`]);
    restart();
    await apply(await deployment(), configMap({ a: '1' }));
    expect((await live('configmap'))['data']).toEqual({ a: '1' });
  });

  async function patchAs(manager: string, data: object): Promise<void> {
    const text = JSON.stringify({ data });
    const flags = [`--field-manager=${manager}`, '--type=merge', '-p', text];
    await kubectl.must(['patch', 'configmap', nameOf(), '-n', namespace, ...flags]);
  }

  test('are taken over again after a return to RukPak', async () => {
    const owner = await installed([[configMap({ a: '1' })]]);
    await apply(owner, configMap({ a: '1' }));
    await patchAs('core', { late: 'x' });
    restart();
    await apply(await deployment(), configMap({ a: '1' }));
    expect((await live('configmap'))['data']).toEqual({ a: '1' });
  });
});

describe('a Service whose port people changed', () => {
  const service = (port: number, fields: object = {}) =>
    anObject('Service', { spec: { selector: { app: 'a' }, ports: [{ port, ...fields }] } });

  async function edit(...ports: readonly object[]): Promise<void> {
    const text = JSON.stringify({ spec: { ports } });
    await kubectl.must(['patch', 'service', nameOf(), '-n', namespace, '--type=merge', '-p', text]);
  }

  async function portsOf(): Promise<unknown> {
    const { spec } = (await live('service')) as { spec?: { ports?: readonly { port: number }[] } };
    return spec?.ports?.map(({ port }) => port);
  }

  test('in RukPak’s time has the bundle’s again, and that is told', async () => {
    const owner = await installed([[service(80)]]);
    await edit({ port: 8080 });
    await apply(owner, service(80));
    expect(await portsOf()).toEqual([80]);
    expect(events).toMatchObject([
      {
        reason: 'FieldsTaken',
        message: expect.stringContaining(
          'spec.ports[port=8080,protocol="TCP"] was set by "kubectl-patch" at ',
        ),
      },
    ]);
    await apply(await deployment(), service(81));
    expect(await portsOf()).toEqual([81]);
  });

  test('in ours has the bundle’s again, also where two would have one name', async () => {
    const owner = await installed([[service(80, { name: 'http' })]]);
    await apply(owner, service(80, { name: 'http' }));
    await edit({ port: 8080, name: 'http' });
    restart();
    const wanted = service(80, { name: 'http' });
    const plan = { owner: await deployment(), objects: [wanted] };
    expect(await engine.plan({ ...plan, signal: AbortSignal.timeout(240_000) })).toMatchObject({
      problems: [],
      changes: [
        {
          kind: 'Service',
          fields: [
            { path: 'spec.ports[name="http"].port', before: '8080', after: '80' },
            { path: 'spec.ports[name="http"].targetPort' },
          ],
        },
      ],
    });
    await apply(await deployment(), wanted);
    expect(await portsOf()).toEqual([80]);
  });

  test('keeps it where the bundle’s own ports are refused', async () => {
    const owner = await installed([[service(80)]]);
    await edit({ port: 8080 });
    const { metadata, ...refused } = service(80, { targetPort: 70_000 });
    await expect(apply(owner, { ...refused, metadata })).rejects.toThrow('targetPort');
    expect(await portsOf()).toEqual([8080]);
    const { managedFields } = (await live('service')).metadata as { managedFields?: object[] };
    expect(JSON.stringify(managedFields)).toContain('kubectl-patch');
  });
});

test('nothing that the API server filled in is changed, nor what cannot be changed', async () => {
  const labels = { app: nameOf() };
  const containers = [
    { name: 'main', image: 'example.invalid/none:1', ports: [{ containerPort: 1 }] },
  ];
  const template = { metadata: { labels }, spec: { containers } };
  const objects = [
    anObject('Service', { spec: { selector: labels, ports: [{ name: 'a', port: 80 }] } }),
    anObject('PersistentVolumeClaim', {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    {
      ...anObject('Deployment', { spec: { selector: { matchLabels: labels }, template } }),
      apiVersion: 'apps/v1',
    },
    {
      ...anObject('StatefulSet', {
        spec: { serviceName: 'a', selector: { matchLabels: labels }, template },
      }),
      apiVersion: 'apps/v1',
    },
    {
      ...anObject('Job', {
        spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
      }),
      apiVersion: 'batch/v1',
    },
    anObject('Secret', { stringData: { a: 'b' } }),
    anObject('ServiceAccount'),
  ];
  const owner = await installed([objects]);
  const before = await Promise.all(objects.map(({ kind }) => live(kind)));
  await apply(owner, ...objects);
  const after = await Promise.all(objects.map(({ kind }) => live(kind)));
  expect(after.map(written)).toEqual(before.map(written));
});

/** What the object asks for, and who it is; a Deployment's generation counts annotations as well. */
function written({ kind, metadata, spec, data }: KubernetesObject): object {
  const { name, uid } = metadata;
  return { kind, name, uid, spec, data };
}

describe('objects that the bundle no longer has', () => {
  const kept = { 'helm.sh/resource-policy': 'keep' };

  test('are removed, also of kinds that nothing else of the deployment is of; kept ones stay', async () => {
    const rest = [
      anObject('Secret'),
      configMap({ a: '1' }, { name: `${nameOf()}-old` }),
      configMap({ a: '1' }, { name: `${nameOf()}-kept`, annotations: kept }),
    ];
    const owner = await installed([[configMap({ a: '1' })], [configMap({ a: '1' }), ...rest]]);
    await apply(owner, configMap({ a: '1' }));
    expect(await kubectl.exists('secret', nameOf(), namespace)).toBe(false);
    expect(await kubectl.exists('configmap', `${nameOf()}-old`, namespace)).toBe(false);
    expect(await kubectl.exists('configmap', `${nameOf()}-kept`, namespace)).toBe(true);
    expect(events).toMatchObject([{ reason: 'ObjectsDeleted' }]);
  });

  test.each(['pending-upgrade', 'failed', 'pending-rollback'])(
    'are found in a release that is %s, and in those before it',
    async (status) => {
      const [first, second] = [anObject('Secret'), anObject('ServiceAccount')];
      const owner = await installed([[first], [second]], status);
      await apply(owner, configMap({ a: '1' }));
      expect(await kubectl.exists('secret', nameOf(), namespace)).toBe(false);
      expect(await kubectl.exists('serviceaccount', nameOf(), namespace)).toBe(false);
    },
  );

  test('are still found after a crash in the first apply', async () => {
    const owner = await installed([[anObject('Secret')]]);
    const broken = { ...configMap({ a: '1' }), immutable: 'no boolean' };
    await expect(apply(owner, broken)).rejects.toThrow();
    restart();
    await apply(await deployment(), configMap({ a: '1' }));
    expect(await kubectl.exists('secret', nameOf(), namespace)).toBe(false);
  });

  test('of a release that cannot be read stay, and that is said', async () => {
    const owner = await installed([[anObject('Secret'), configMap({ a: '1' })]]);
    const secret = `sh.helm.release.v1.${nameOf()}.v1`;
    const text = JSON.stringify({ data: { release: btoa('no release') } });
    await kubectl.must(['patch', 'secret', secret, '-n', namespace, '--type=merge', '-p', text]);
    await apply(owner, configMap({ a: '1' }));
    expect(await kubectl.exists('secret', nameOf(), namespace)).toBe(true);
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'ReleaseUnreadable',
        message:
          `the release of RukPak in Secret "${secret}" in namespace "${namespace}" cannot be read: ` +
          'it is not gzip of at most 67108864 bytes. ' +
          'Objects of kinds that the bundle no longer has are not removed',
      },
    ]);
  });
});

test('a kept object becomes kept, and one that was kept becomes owned', async () => {
  const annotations = { 'helm.sh/resource-policy': 'keep' };
  const keep = configMap({ a: '1' }, { name: `${nameOf()}-keep` });
  const own = configMap({ a: '1' }, { name: `${nameOf()}-own` });
  const keepNow = { ...keep, metadata: { ...keep.metadata, annotations } };
  const owner = await installed([[keep, { ...own, metadata: { ...own.metadata, annotations } }]]);
  await apply(owner, keepNow, own);
  const kept = await live('configmap', `${nameOf()}-keep`);
  expect(kept.metadata.ownerReferences).toBeUndefined();
  const owned = await live('configmap', `${nameOf()}-own`);
  expect(owned.metadata.ownerReferences).toBeUndefined();
  expect(owned.metadata.annotations).toEqual({
    'core.rukpak.io/tracking-id': `${owner.metadata.uid}:/ConfigMap:${namespace}/${nameOf()}-own`,
    'meta.helm.sh/release-name': nameOf(),
    'meta.helm.sh/release-namespace': namespace,
  });
});

describe('release Secrets', () => {
  const said: string[] = [];

  async function remove(names?: readonly string[], dryRun = false) {
    said.length = 0;
    return await removeReleases(client, {
      ...(names === undefined ? {} : { names }),
      dryRun,
      namespace,
      signal: AbortSignal.timeout(240_000),
      onDeleted: async (secret) => void said.push(secret),
      onKept: async (name, because) => void said.push(`${name} ${because}`),
    });
  }

  test('go where a deployment is ours and installed, and only there', async () => {
    const owner = await installed([[configMap({ a: '1' })], [configMap({ a: '2' })]]);
    const secrets = [2, 1].map((revision) => `sh.helm.release.v1.${nameOf()}.v${revision}`);
    const [own] = await kubectl.list('secrets', `name=${nameOf()}`);
    // Of the same name by chance: nobody controls it.
    const metadata = { name: `other-${nameOf()}`, namespace, labels: own?.metadata.labels ?? {} };
    const stranger = { apiVersion: 'v1', kind: 'Secret', type: 'helm.sh/release.v1', metadata };
    await kubectl.must(['create', '-f', '-'], JSON.stringify(stranger));

    await expect(remove(['nobody'])).rejects.toThrow('BundleDeployment "nobody" does not exist: ');
    const foreign = `BundleDeployment "${nameOf()}" has not been taken over from RukPak, and still needs`;
    await expect(remove([nameOf()])).rejects.toThrow(foreign);
    const { skipped } = await remove();
    expect(skipped).toContain(nameOf());

    await apply(owner, configMap({ a: '2' }));
    await setReady('False');
    const unready = `BundleDeployment "${nameOf()}" is not installed, and may still need its release Secrets: nothing`;
    await expect(remove([nameOf()])).rejects.toThrow(unready);

    await setReady('True');
    expect(await remove([nameOf()], true)).toEqual({ deleted: secrets, skipped: [] });
    expect(said).toEqual(secrets);
    expect(await kubectl.list('secrets', `name=${nameOf()}`)).toHaveLength(3);
    expect(await remove([nameOf()])).toEqual({ deleted: secrets, skipped: [] });
    const left = await kubectl.list('secrets', `name=${nameOf()}`);
    expect(left.map(({ metadata: { name } }) => name)).toEqual([metadata.name]);
  });

  async function setReady(status: string): Promise<void> {
    const conditions = [
      {
        type: 'Installed',
        status,
        reason: 'Test',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ];
    const text = JSON.stringify({ status: { conditions, observedGeneration: 1 } });
    const flags = ['--subresource=status', '--type=merge', '-p', text];
    await kubectl.must(['patch', 'bundledeployment', nameOf(), ...flags]);
  }
});
