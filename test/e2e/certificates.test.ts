import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment, BundleDeploymentSpec } from '../../api/v1alpha1/index.ts';
import { connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import type { RawRequest } from '../../core/platform/kube/kube-client.ts';
import { certifiedContent, widgetKind } from '../helpers/certified-content.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aServiceAccount } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { ServiceProgram } from '../helpers/service-program.ts';
import { System } from '../helpers/system.ts';
import { allowed, converted, denied, labelled } from '../helpers/webhook-answers.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const namespace = 'certified';
const secret = 'webhook-cert';

let kubectl: Kubectl;
let system: System | undefined;
let kube: KubeConnection;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  kube = connect({ kubeconfig, userAgent: 'tests' });
});

afterAll(async () => {
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  await kubectl.deleteNamed('crd', foreignKinds, { ignoreNotFound: true });
  await system?.stop();
  await kube?.close();
});

async function isGone(): Promise<void> {
  await eventually(async () => {
    expect(await kubectl.exists('namespace', namespace)).toBe(false);
  }, patiently);
}

/** With other flags than before. */
async function startSystem(flags: readonly string[] = []): Promise<System> {
  if (system === undefined)
    system = await System.start({ kubeconfig, registry, flags, run: RukpakProcess });
  else {
    await system.terminate();
    await system.restart(flags);
  }
  await isGone();
  // A deployment of the same name and template would own it again, with its content.
  await eventually(async () => {
    expect(await kubectl.list('bundles', 'core.rukpak.io/owner-name=certified')).toEqual([]);
  }, patiently);
  return system;
}

async function rollOut(
  name: string,
  objects: readonly object[],
  wanted: Partial<BundleDeploymentSpec> = {},
): Promise<void> {
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name: `certificates-${name}`, version: 1, files });
  const deployment = aBundleDeployment({ name, source }) as BundleDeployment;
  await kubectl.apply({ ...deployment, spec: { ...deployment.spec, ...wanted } });
}

async function untilInstalled(name: string): Promise<void> {
  await eventually(async () => {
    const live = await kubectl.get('bundledeployment', name);
    expect(conditionOf(live, 'Installed')).toMatchObject({ status: 'True' });
  });
}

async function untilGone(name: string): Promise<void> {
  await kubectl.deleteNamed('bundledeployment', [name]);
  const kinds = [
    'secrets',
    'services',
    'deployments',
    'crds',
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
    'namespaces',
    ...(await served(foreignKinds)),
  ];
  await eventually(async () => {
    const left = await kubectl.list(kinds.join(','), `core.rukpak.io/owner-name=${name}`);
    expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
  }, patiently);
}

async function served(crds: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(crds.map((crd) => kubectl.exists('crd', crd)));
  return crds.filter((_, index) => found[index]);
}

/** The program of the bundle: three webhooks behind one Service. */
async function startProgram(): Promise<ServiceProgram> {
  return await ServiceProgram.start({
    client: kube.client,
    namespace,
    service: 'webhook',
    secret,
    answer: (path, review) => {
      if (path.startsWith('/convert')) return converted(review, toggled);
      if (path.startsWith('/mutate')) return labelled(review, 'mutated', 'yes');
      return isForbidden(review) ? denied(review, 'the program says no') : allowed(review);
    },
  });
}

function isForbidden(review: JsonObject): boolean {
  const { object } = review['request'] as { readonly object: KubernetesObject };
  return object.metadata.labels?.['forbidden'] === 'yes';
}

/** The field is called `size` in v1 and `width` in v2. */
function toggled(object: JsonObject, apiVersion: string): JsonObject {
  const { size, width, ...spec } = object['spec'] as JsonObject;
  const value = size ?? width;
  const field = apiVersion.endsWith('/v1') ? { size: value } : { width: value };
  return { ...object, spec: { ...spec, ...field } };
}

function aWish(labels: Readonly<Record<string, string>> = {}): RawRequest {
  return {
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
    body: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'wish-', labels: { wish: 'yes', ...labels } },
    },
  };
}

const aWidgetOfV2: RawRequest = {
  method: 'GET',
  path: `/apis/${widgetKind.group}/v2/namespaces/${namespace}/widgets/one`,
};

/** Requests without end, each through a webhook; what failed. */
class Stream {
  readonly failures: string[] = [];
  sent = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(requests: readonly RawRequest[]) {
    this.#running = Promise.all(requests.map((request) => this.#send(request)));
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #send(request: RawRequest): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await kube.client.request(request).catch((error: unknown) => {
        this.failures.push(`${new Date().toISOString()} ${String(error)}`);
      });
      this.sent += 1;
      await delay(40);
    }
  }
}

interface LiveSecret {
  readonly data: Readonly<Record<string, string>>;
}

async function liveSecret(): Promise<LiveSecret['data']> {
  const live = await kubectl.get('secret', secret, namespace);
  return (live as unknown as LiveSecret).data;
}

async function podsHash(): Promise<string | undefined> {
  const { spec } = (await kubectl.get('deployment', 'webhook', namespace)) as unknown as {
    readonly spec: { readonly template: { readonly metadata: KubernetesObject['metadata'] } };
  };
  return spec.template.metadata.annotations?.['core.rukpak.io/certificate-hash'];
}

describe('core’s own certificates', () => {
  test('are replaced twice, across a crash, and no request fails', { tags: 'long' }, async () => {
    const flags = ['--serving-certificate-lifetime=120s'];
    const core = await startSystem(flags);
    await rollOut('certified', certifiedContent({ namespace, secret }));
    const program = await startProgram();
    await untilInstalled('certified');
    // A new kind, or a new webhook, counts a moment after it is there.
    await eventually(() => kubectl.must(['apply', '-f', '-'], widget));
    const hash = await podsHash();
    expect(hash).toMatch(/^[0-9a-f]{16}$/);

    await eventually(async () => {
      const { metadata } = (await kube.client.request(aWish())) as KubernetesObject;
      expect(metadata.labels).toMatchObject({ mutated: 'yes' });
      await expect(kube.client.request(aWish({ forbidden: 'yes' }))).rejects.toThrow(
        'the program says no',
      );
      expect(await kube.client.request(aWidgetOfV2)).toMatchObject({ spec: { width: 3 } });
    });

    const stream = new Stream([aWish(), aWidgetOfV2]);
    // The first is asked for, so that a slow start of core does not outlast a certificate.
    const asked = 'core.rukpak.io/rotate-certificates=1';
    await kubectl.must(['annotate', 'bundledeployment', 'certified', asked]);
    await eventually(async () => expect(await liveSecret()).toHaveProperty(['next.crt']));
    // At the worst moment: the next certificate is made, and not everybody may trust it.
    await core.kill();
    await core.restart(flags);
    await eventually(() => expect(program.served).toHaveLength(3), { within: 400_000 });
    await delay(3_000);
    await stream.end();
    expect(stream.failures).toEqual([]);
    expect(stream.sent).toBeGreaterThan(200);
    expect(await podsHash()).not.toBe(hash);
    await eventually(async () => {
      const events = await kubectl.list('events');
      expect(events.map(({ reason }) => reason)).toContain('CertificateRotated');
    });
    expect(core.log).not.toContain('PRIVATE KEY');

    await kubectl.deleteNamed('widgets.certified.example.com', ['one'], { namespace });
    await untilGone('certified');
    await program.stop();
  });

  test('are approved once, come back as they were, and begin anew when asked for', async () => {
    await startSystem();
    const content = certifiedContent({ namespace, secret });
    await rollOut('certified', content, { upgradePolicy: 'Manual' });
    const plan = await eventually(async () => {
      const { status } = (await kubectl.get('bundledeployment', 'certified')) as BundleDeployment;
      expect(status?.plan?.create).toBe(content.length + 1);
      return status?.plan;
    });
    expect(plan?.problems).toBeUndefined();
    const approval = `core.rukpak.io/approve=${plan?.digest}`;
    await kubectl.must(['annotate', 'bundledeployment', 'certified', approval]);
    await untilInstalled('certified');
    const first = await liveSecret();
    expect(Object.keys(first).toSorted()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    await kubectl.deleteNamed('secret', [secret], { namespace });
    await eventually(async () => expect(await liveSecret()).toEqual(first));
    const asked = 'core.rukpak.io/rotate-certificates=1';
    await kubectl.must(['annotate', 'bundledeployment', 'certified', asked]);
    await eventually(async () => {
      expect(await liveSecret()).toMatchObject({ 'tls.crt': first['tls.crt'] });
      expect(await liveSecret()).toHaveProperty(['next.crt']);
    });
    await untilGone('certified');
  });

  test('a Secret that is somebody else’s is left alone', async () => {
    await isGone();
    const theirs = { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace } };
    const [place, ...rest] = certifiedContent({ namespace, secret });
    await kubectl.apply(place ?? {});
    await kubectl.apply(theirs);
    await rollOut('certified', rest);
    await eventually(async () => {
      const live = await kubectl.get('bundledeployment', 'certified');
      const { status, message } = conditionOf(live, 'Installed') ?? {};
      expect({ status, message }).toEqual({
        status: 'False',
        message: expect.stringContaining(`Secret "${secret}"`) as string,
      });
    });
    await kubectl.deleteNamed('bundledeployment', ['certified']);
    expect(await kubectl.exists('secret', secret, namespace)).toBe(true);
    await kubectl.deleteNamed('namespace', [namespace]);
  });
});

test('an account of a deployment that may not have Secrets is told so', async () => {
  await startSystem();
  const name = 'certified-nobody';
  await kubectl.apply(aServiceAccount(name));
  const [, ...content] = certifiedContent({ namespace: 'default', secret });
  await rollOut(name, content, { serviceAccount: { namespace: 'default', name } });
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
    expect(condition?.reason).toBe('PermissionsMissing');
    expect(condition?.message).toContain('secrets');
  });
  expect(await kubectl.exists('secret', secret, 'default')).toBe(false);
  await kubectl.deleteNamed('bundledeployment', [name]);
  await kubectl.deleteNamed('serviceaccount', [name], { namespace: 'default' });
});

const foreignKinds = ['certificates.cert-manager.io', 'issuers.cert-manager.io'];

describe('certificates of others', () => {
  // Namespaces take their time to go.
  const [, ...content] = certifiedContent({ namespace: 'default', secret });

  test('cert-manager is asked for them by its own kinds, and named where it is missing', async () => {
    await startSystem(['--certificates=cert-manager']);
    await rollOut('certified', content);
    await eventually(async () => {
      const live = await kubectl.get('bundledeployment', 'certified');
      expect(conditionOf(live, 'Installed')?.message).toContain('--certificates=cert-manager');
    });
    await kubectl.apply(...['Certificate', 'Issuer'].map(aForeignKind));
    const established = ['--for=condition=Established', '--timeout=300s'];
    await kubectl.must(['wait', 'crd', ...foreignKinds, ...established]);
    // It would be tried again by itself, within a minute.
    await kubectl.must(['annotate', 'bundledeployment', 'certified', 'nudged=yes']);
    await untilInstalled('certified');
    const certificate = await kubectl.get('certificate.cert-manager.io', secret, 'default');
    expect(certificate).toMatchObject({
      spec: {
        secretName: secret,
        dnsNames: expect.arrayContaining(['webhook.default.svc']) as string[],
        issuerRef: { name: `${secret}-selfsigned-issuer` },
      },
    });
    const hooks = await kubectl.get('validatingwebhookconfiguration', 'certified');
    expect(hooks.metadata.annotations).toMatchObject({
      'cert-manager.io/inject-ca-from': `default/${secret}`,
    });
    expect(await kubectl.exists('secret', secret, 'default')).toBe(false);
    await untilGone('certified');
  });

  test('the service CA of OpenShift is asked for them by its annotations', async () => {
    await startSystem(['--certificates=service-ca']);
    await rollOut('certified', content);
    await untilInstalled('certified');
    const service = await kubectl.get('service', 'webhook', 'default');
    expect(service.metadata.annotations).toMatchObject({
      'service.beta.openshift.io/serving-cert-secret-name': secret,
    });
    for (const kind of ['validatingwebhookconfiguration', 'mutatingwebhookconfiguration']) {
      expect((await kubectl.get(kind, 'certified')).metadata.annotations).toMatchObject({
        'service.beta.openshift.io/inject-cabundle': 'true',
      });
    }
    await untilGone('certified');
  });
});

test('the session of the howto goes as it is written', { tags: 'long' }, async () => {
  await startSystem();
  const howto = { page: 'certificates.md', kubectl, kubeconfig };
  const printed = await followHowto(howto, 'A session');
  expect(printed).toContain('Secret/shop/shop-webhook-cert');
  expect(printed).toContain('CertificateIssued');
  await followHowto(howto, 'The end of the session');
});

const widget = JSON.stringify({
  apiVersion: `${widgetKind.group}/v1`,
  kind: 'Widget',
  metadata: { name: 'one', namespace },
  spec: { size: 3 },
});

function aForeignKind(kind: string): object {
  const plural = `${kind.toLowerCase()}s`;
  const group = 'cert-manager.io';
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
