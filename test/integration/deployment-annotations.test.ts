import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { renewCertificates } from '../../core/platform/certificates/renewal.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import { admissionRoutes, startWebhookServer, type WebhookServer } from '../../webhooks/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const id = 'deployment-annotations';
const [guarded, free] = [`${id}-guarded`, `${id}-free`];
const kind = 'bundledeployment';
const configuration = 'validatingwebhookconfiguration';
const rbac = 'rbac.authorization.k8s.io';

/** Annotations that users set, and the record of the controllers of OLM 1.0. */
const orders = [
  annotation.adopt,
  annotation.handOver,
  annotation.approve,
  annotation.confirmPrune,
  annotation.skipHooks,
  annotation.rotateCertificates,
  annotation.acceptNewSeed,
  annotation.reconcileRequestedAt,
  annotation.selectedBundle,
];
const marks = [
  annotation.installNamespace,
  annotation.notedStatus,
  annotation.seed,
  annotation.hooksApplied,
  annotation.orphanObjects,
];
/** Jim may write BundleDeployments, and core also their status. */
const jim = '--as=jim';
const core = `--as=${id}-core`;
const serviceAccount = { namespace: id, name: 'deployer' };
const guardedDeployment = aDeployment(guarded, { serviceAccount });

let kube: KubeConnection;
let server: WebhookServer;

beforeAll(async () => {
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: id });
  await installCrds(plane.kubeconfig);
  await mayWrite('jim', ['bundledeployments']);
  await mayWrite(`${id}-core`, ['bundledeployments', 'bundledeployments/status']);
  const { serving, caBundle } = await renewCertificates(undefined, ['127.0.0.1'], Date.now());
  server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates: serving,
    routes: admissionRoutes({
      client: kube.client,
      requireServiceAccount: true,
      systemNamespace: id,
      bundles: { bundlesReferencing: async () => [] },
      deployments: { dependenciesOf: () => [] },
      ruleProblem: () => undefined,
      configMaps: { get: async () => undefined },
    }),
    clock: systemClock,
    logger: silentLogger,
  });
  // Older than the flag: no webhook judges its creation.
  await kubectl.apply(aDeployment(free, {}));
  await install(`https://127.0.0.1:${server.port}`, caBundle);
  await kubectl.apply(guardedDeployment);
  // The API server learns of a configuration and of roles in its own time.
  await eventually(async () => {
    const probe = JSON.stringify(aDeployment(`${id}-probe`, {}));
    const { stderr } = await kubectl.run(['create', '-f', '-', jim, '--dry-run=server'], probe);
    expect(stderr).toContain(required);
  });
  await eventually(async () => expect(await annotate(free, [core], 'a=b')).toBe(''));
});

afterAll(async () => {
  await kubectl.deleteNamed(configuration, [id], { ignoreNotFound: true });
  await kubectl.deleteNamed(kind, [guarded, free], { ignoreNotFound: true });
  await kubectl.run(['delete', 'clusterrole,clusterrolebinding', '--selector', `test=${id}`]);
  await server?.close(0);
  await kube?.close();
});

async function mayWrite(name: string, resources: readonly string[]): Promise<void> {
  const metadata = { name: `${id}-${name}`, labels: { test: id } };
  const rules = [{ apiGroups: ['core.rukpak.io'], resources, verbs: ['*'] }];
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ kind: 'User', name }];
  const apiVersion = `${rbac}/v1`;
  await kubectl.apply(
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  );
}

/** The shipped webhooks of BundleDeployments, for those of this file alone. */
async function install(webhookUrl: string, caBundle: string): Promise<void> {
  const shipped = installManifests({ webhookUrl }).find(
    ({ metadata }) => metadata.name === 'rukpak-validating-webhook-configuration',
  );
  const webhooks = ((shipped?.['webhooks'] ?? []) as Webhook[])
    .filter(({ name }) => name === 'vbundledeployments.core.rukpak.io')
    .map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: Buffer.from(caBundle).toString('base64') },
    }));
  await kubectl.apply({ ...shipped, metadata: { name: id }, webhooks });
}

interface Webhook {
  readonly name: string;
  readonly clientConfig: object;
}

function aDeployment(name: string, fields: object): KubernetesObject & { readonly spec: object } {
  // A class that nothing serves.
  const source = { type: 'image', image: { ref: 'x' } };
  const template = { spec: { provisionerClassName: id, source } };
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name },
    spec: { provisionerClassName: id, template, ...fields },
  };
}

/** What the API server says against it; empty when it accepts it. */
async function annotate(
  name: string,
  user: readonly string[],
  ...changes: readonly string[]
): Promise<string> {
  const words = ['annotate', kind, name, '--overwrite', ...user, ...changes];
  return (await kubectl.run(words)).stderr;
}

const admin = ['--as=admin', '--as-group=system:masters'];
const impersonation = 'user "jim" may not impersonate ServiceAccount "deployer"';
const required = 'spec.serviceAccount must be set';

test.each([...orders, ...marks])('who may not use the account does not set %s', async (key) => {
  expect(await annotate(guarded, [jim], `${key}=x`)).toContain(impersonation);
});

test.each([annotation.approve, annotation.notedStatus])(
  'nor changes or removes %s',
  async (key) => {
    expect(await annotate(guarded, admin, `${key}=x`)).toBe('');
    expect(await annotate(guarded, [jim], `${key}=y`)).toContain(impersonation);
    expect(await annotate(guarded, [jim], `${key}-`)).toContain(impersonation);
    expect(await annotate(guarded, admin, `${key}-`)).toBe('');
  },
);

test('a deployment without an account, older than the flag, takes neither', async () => {
  for (const key of [annotation.approve, annotation.notedStatus]) {
    expect(await annotate(free, [jim], `${key}=x`)).toContain(required);
  }
});

test('labels, finalizers and annotations of others pass', async () => {
  for (const finalizers of [['example.com/a'], []]) {
    const labels = { a: String(finalizers.length) };
    const patch = `--patch=${JSON.stringify({ metadata: { finalizers, labels } })}`;
    await kubectl.must(['patch', kind, guarded, jim, '--type=merge', patch]);
  }
  expect(await annotate(guarded, [jim], 'example.com/a=b')).toBe('');
});

test('who may use the account restores a deployment with all its annotations', async () => {
  const { metadata, ...rest } = guardedDeployment;
  const annotations = Object.fromEntries([...orders, ...marks].map((key) => [key, 'x']));
  const name = `${guarded}-restored`;
  const restored = JSON.stringify({ ...rest, metadata: { ...metadata, name, annotations } });
  const create = ['create', '-f', '-', '--dry-run=server'];
  expect((await kubectl.run([...create, jim], restored)).stderr).toContain(impersonation);
  await kubectl.must([...create, ...admin], restored);
});

test('large annotations and specs are not too much for the condition', async () => {
  const name = `${id}-large`;
  onTestFinished(async () => void (await kubectl.run(['delete', kind, name])));
  const value = 'x'.repeat(100_000);
  const annotations = { [annotation.adopt]: value, [annotation.seed]: value };
  const config = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, key) => [key, 'x'.repeat(1_000)]),
  );
  const spec = { ...guardedDeployment.spec, config };
  await kubectl.apply({ ...guardedDeployment, metadata: { name, annotations }, spec });
  await kubectl.must(['label', kind, name, jim, 'a=b']);
  expect(await annotate(name, [core], `${annotation.seed}=x`)).toBe('');
  expect(await annotate(name, [jim], `${annotation.adopt}=${value}y`)).toContain(impersonation);
});

describe('what core writes', () => {
  async function marksPass(): Promise<void> {
    for (const [name, value] of [
      [guarded, `${Date.now()}`],
      [free, 'x'],
    ] as const) {
      const changes = marks.map((key) => `${key}=${value}`);
      expect(await annotate(name, [core], ...changes)).toBe('');
      expect(await annotate(name, [core], ...marks.map((key) => `${key}-`))).toBe('');
    }
  }

  test('passes, and what users ask for does not', async () => {
    await marksPass();
    expect(await annotate(guarded, [core], `${annotation.approve}=x`)).toContain(
      'may not impersonate',
    );
  });

  test('never waits for a webhook that is down', async () => {
    await server.close(0);
    await marksPass();
    expect(await annotate(guarded, [jim], 'example.com/a=c')).toBe('');
    for (const key of [annotation.approve, annotation.seed]) {
      expect(await annotate(guarded, [jim], `${key}=x`)).toContain('failed calling webhook');
    }
  });
});
