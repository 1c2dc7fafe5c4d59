// @module-tag long
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bundle, BundleSource } from '../../api/v1alpha1/index.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { AuditLog } from '../helpers/audit-log.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushContent } from '../helpers/push-content.ts';
import { Replica } from '../helpers/replica.ts';
import { tokenOf } from '../helpers/service-account.ts';
import { type Subject, subjects } from './crash-subjects.ts';

const reader = { namespace: 'default', name: 'replicas-reader' };
const externalAddress = 'http://core.example';
const settling = { within: 600_000, every: 1_000 };

let kubectl: Kubectl;
let audit: AuditLog;
let auditStart: number;
let replicas: Replica[];
let token: string;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  audit = new AuditLog(plane.clusterDir);
  await install();
  token = await tokenOf(kubectl, reader);
  auditStart = await audit.position();
  replicas = await Promise.all([1, 2, 3].map(() => newReplica()));
});

afterAll(async () => {
  try {
    await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
    await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), settling);
    await kubectl.deleteNamed('clusterrolebinding', [reader.name], { ignoreNotFound: true });
    await kubectl.deleteNamed('serviceaccount', [reader.name], {
      namespace: 'default',
      ignoreNotFound: true,
    });
  } finally {
    await Promise.all(replicas.map((replica) => replica.stop()));
  }
});

/** Without the webhooks, which nobody serves here: those of other tests would refuse everything. */
async function install(): Promise<void> {
  const isWebhook = ({ kind }: { kind: string }) => kind.endsWith('WebhookConfiguration');
  const manifests = installManifests();
  for (const { kind, metadata } of manifests.filter(isWebhook)) {
    await kubectl.deleteNamed(kind, [metadata.name ?? ''], { ignoreNotFound: true });
  }
  await kubectl.apply(
    ...manifests.filter((object) => !isWebhook(object)),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: reader },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: reader.name },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'bundle-reader',
      },
      subjects: [{ kind: 'ServiceAccount', ...reader }],
    },
  );
  // Those of other tests may be on their way out.
  const crds = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const names = crds.map(({ metadata }) => `crd/${metadata.name}`);
  await kubectl.must(['wait', '--for=condition=Established', ...names, '--timeout=300s']);
}

async function newReplica(): Promise<Replica> {
  const parts = { kubeconfig: plane.kubeconfig, registry: plane.registry };
  return await Replica.start({ ...parts, externalAddress });
}

async function theLeader(): Promise<Replica> {
  return await eventually(() => {
    const leader = replicas.find(({ leads }) => leads);
    if (leader === undefined) throw new Error('nobody leads');
    return leader;
  });
}

/** Puts a new one, without any content, in the place of one that has ended. */
async function replace(ended: Replica): Promise<void> {
  await ended.stop();
  replicas = [...replicas.filter((replica) => replica !== ended), await newReplica()];
}

function sourceOf({ name }: Subject): BundleSource {
  return anImage(`${plane.registry}/e2e/replicas-${name}:v1`);
}

async function push(subject: Subject): Promise<void> {
  const [registry, name] = [plane.registry, `replicas-${subject.name}`];
  await pushContent({ registry, name, version: 1, files: subject.files(1) });
}

async function theBundles(): Promise<readonly Bundle[]> {
  return (await kubectl.list('bundles')) as readonly Bundle[];
}

async function allAreInstalled(): Promise<void> {
  const deployments = await kubectl.list('bundledeployments');
  expect(deployments).toHaveLength(subjects.length);
  for (const deployment of deployments) {
    const conditions = ['HasValidBundle', 'Installed', 'Healthy'].map(
      (type) => conditionOf(deployment, type)?.status,
    );
    expect(conditions, deployment.metadata.name).toEqual(['True', 'True', 'True']);
  }
}

async function leaseHolder(): Promise<unknown> {
  const lease = await kubectl.get('lease', 'core.rukpak.io', 'rukpak-system');
  return (lease['spec'] as { readonly holderIdentity?: unknown }).holderIdentity;
}

async function patchLease(spec: object): Promise<void> {
  const patch = JSON.stringify({ spec });
  const lease = ['lease', 'core.rukpak.io', '--namespace=rukpak-system'];
  await kubectl.must(['patch', ...lease, '--type=merge', `--patch=${patch}`]);
}

/** When each condition of each deployment last changed. */
async function transitions(): Promise<readonly string[]> {
  const deployments = await kubectl.list('bundledeployments');
  return deployments.flatMap((deployment) =>
    ['HasValidBundle', 'Installed', 'Healthy'].map((type) => {
      const at = conditionOf(deployment, type)?.lastTransitionTime;
      return `${deployment.metadata.name} ${type} ${at}`;
    }),
  );
}

async function get(replica: Replica, bundle: Bundle): Promise<string> {
  const { pathname, origin } = new URL(bundle.status?.contentURL ?? '');
  expect(origin).toBe(externalAddress);
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(replica.address + pathname, { headers });
  const body = Buffer.from(await answer.arrayBuffer());
  const digest = createHash('sha256').update(body).digest('hex');
  return `${pathname} ${answer.status} ${answer.headers.get('etag')} ${digest}`;
}

/** What each of some replicas answers for each Bundle; all must say the same. */
async function sameAnswers(from: readonly Replica[]): Promise<readonly string[]> {
  const bundles = await theBundles();
  expect(bundles).toHaveLength(subjects.length);
  const answers = await Promise.all(
    from.map((replica) => Promise.all(bundles.map((bundle) => get(replica, bundle)))),
  );
  const [first = []] = answers;
  for (const line of first) expect(line).toMatch(/ 200 "[0-9a-f]{64}" /);
  for (const answer of answers) expect(answer).toEqual(first);
  return first.toSorted();
}

describe('three replicas of core', () => {
  let content: readonly string[];

  test('install twenty though their leader is killed: another takes over', async () => {
    const leader = await theLeader();
    // However fast they are, one of them cannot be installed before the leader is killed.
    await Promise.all(subjects.slice(0, -1).map(push));
    await kubectl.apply(
      ...subjects.map((subject) => aBundleDeployment({ ...subject, source: sourceOf(subject) })),
    );
    await eventually(
      async () => {
        const unpacked = (await theBundles()).filter(({ status }) => status?.phase === 'Unpacked');
        expect(unpacked.length).toBeGreaterThan(2);
      },
      { every: 20 },
    );
    await leader.kill();
    await expect(allAreInstalled()).rejects.toThrow();
    await Promise.all(subjects.slice(-1).map(push));
    expect(await theLeader()).not.toBe(leader);
    await eventually(allAreInstalled, settling);
    await replace(leader);
  });

  test('apply no object twice with different content', async () => {
    const applied = await audit.appliedSince(auditStart);
    expect(applied.size).toBeGreaterThan(subjects.length * 3);
    for (const [object, contents] of applied)
      expect([object, contents.length]).toEqual([object, 1]);
  });

  test('each serve every Bundle, one without any content of its own too', async () => {
    const empty = replicas.at(-1);
    expect(await empty?.archives()).toEqual([]);
    content = await sameAnswers(replicas);
    expect(await empty?.archives()).toHaveLength(subjects.length);
  });

  test('serve every Bundle while nobody leads', async () => {
    const leader = await theLeader();
    await replace(replicas.find((replica) => replica !== leader) ?? leader);
    await leader.kill();
    // As if it had died this minute, for as long as this takes.
    await patchLease({ leaseDurationSeconds: 600 });
    const others = replicas.filter(({ running }) => running);
    expect(await sameAnswers(others)).toEqual(content);
    expect(others.filter(({ leads }) => leads)).toEqual([]);
    await patchLease({ leaseDurationSeconds: 1 });
    await theLeader();
    await replace(leader);
  });

  test('give the lease back at a graceful stop: the next one need not wait for its end', async () => {
    const leader = await theLeader();
    for (const other of replicas.filter((replica) => replica !== leader)) await replace(other);
    const before = await transitions();
    const holder = await leaseHolder();
    expect(await leader.terminate()).toBe(0);
    expect(await leaseHolder()).not.toBe(holder);
    const next = await theLeader();
    expect(next).not.toBe(leader);
    // It has none of the content, and yet nothing becomes less true meanwhile.
    await eventually(
      async () => expect(await next.archives()).toHaveLength(subjects.length),
      settling,
    );
    await eventually(allAreInstalled, settling);
    expect(await transitions()).toEqual(before);
    await replace(leader);
  });

  test('forget Bundles that are deleted, wherever they are stored', async () => {
    await sameAnswers(replicas);
    const bundles = await theBundles();
    await kubectl.deleteAll('bundledeployments');
    await eventually(async () => expect(await theBundles()).toEqual([]), settling);
    for (const replica of replicas) {
      await eventually(async () => expect(await replica.archives()).toEqual([]), settling);
      for (const bundle of bundles.slice(0, 3)) {
        expect(await get(replica, bundle)).toContain('.tgz 404 ');
      }
    }
  });
});
