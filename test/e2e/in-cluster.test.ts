import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { issueServingCertificate } from '../../core/platform/certificates/index.ts';
import { renewCertificates } from '../../core/platform/certificates/renewal.ts';
import { callerObjects, callers } from '../helpers/callers.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  apiServerOnly,
  archivesOf,
  contentHost,
  InClusterSystem,
  webhookHost,
} from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aBundle, aBundleDeployment, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { secretData } from '../helpers/secret-volume.ts';
import { mutatingConfiguration } from '../helpers/self-signed-overlay.ts';
import { tokenOf } from '../helpers/service-account.ts';
import { servedCertificate, tlsGet } from '../helpers/tls-request.ts';

const namespace = 'rukpak-system';
const webhookSecret = 'rukpak-webhook-serving-certificate';

let kubectl: Kubectl;
let registry: string;
let system: InClusterSystem;
let webhooks: LocalPod;
let core: LocalPod;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await InClusterSystem.install({ kubectl, registry });
  const apply = () => system.overlay.apply();
  webhooks = await system.startWebhooks(apiServerOnly(plane.clusterDir), apply);
  core = await system.startCore();
});

afterAll(async () => {
  await system?.remove();
  const kinds = 'namespaces,clusterrolebindings';
  await kubectl.deleteAll(kinds, { selector: callers.selector });
});

/** Pushes content of a ConfigMap and more. */
async function contentOf(name: string, ...more: readonly object[]): Promise<BundleSource> {
  const files = plainFiles([aConfigMap(name), ...more]);
  return await pushContent({ registry, name, version: 1, files });
}

/** With which kubectl itself asks the API server. */
async function clientCertificate(kubectl: Kubectl): Promise<{ cert: string; key: string }> {
  const view = await kubectl.must(['config', 'view', '--raw', '--minify', '--output=json']);
  const [{ user }] = (JSON.parse(view) as { users: [{ user: Record<string, string> }] }).users;
  const decoded = (field: string) => Buffer.from(user[field] ?? '', 'base64').toString();
  return { cert: decoded('client-certificate-data'), key: decoded('client-key-data') };
}

/** It grants what core itself may not do. */
function aRole(name: string): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [{ nonResourceURLs: ['/logs'], verbs: ['get'] }],
  };
}

async function aBundleOf(name: string): Promise<object> {
  return aBundle({ name, source: await contentOf(name) });
}

test.each(['core', 'rukpak-webhooks'])('pods of %s are admitted', async (name) => {
  const place = [`--namespace=${namespace}`, '--timeout=300s'];
  await kubectl.must(['rollout', 'status', `deployment/${name}`, ...place]);
});

test('the webhooks may read no Secret but their own', async () => {
  const user = `--as=system:serviceaccount:${namespace}:rukpak-webhooks-admin`;
  const canI = async (...what: readonly string[]) =>
    (await kubectl.run(['auth', 'can-i', ...what, user, '-n', namespace])).stdout.trim();
  expect(await canI('get', `secret/${webhookSecret}`)).toBe('yes');
  expect(await canI('get', 'secret/other')).toBe('no');
  expect(await canI('list', 'secrets')).toBe('no');
});

describe('webhooks', () => {
  test('a certificate for core is issued, with the names that the manifests give', async () => {
    const { 'ca.crt': ca = '' } = await secretData(kubectl, 'core-cert');
    for (const servername of [contentHost, `${contentHost}.cluster.local`, 'localhost']) {
      await servedCertificate({ port: core.ports[1] ?? 0, servername, ca });
    }
  });

  test('the CA in the webhook configuration is the one that signed', async () => {
    const { 'ca.crt': ca = '' } = await secretData(kubectl, webhookSecret);
    const { overlay } = system;
    const hooks = [
      ...(await overlay.webhooks()),
      ...(await overlay.webhooks(mutatingConfiguration)),
    ];
    const bundles = hooks.map(({ clientConfig }) => clientConfig.caBundle);
    expect(bundles).toEqual(bundles.map(() => btoa(ca)));
    await servedCertificate({ port: webhooks.ports[1] ?? 0, servername: webhookHost, ca });
  });

  test('only the API server and probes are answered', async () => {
    const { 'ca.crt': ca = '' } = await secretData(kubectl, webhookSecret);
    const server = { port: webhooks.ports[1] ?? 0, servername: webhookHost, ca };
    const path = '/validate-core-rukpak-io-v1alpha1-bundledeployment';
    await expect(tlsGet(server, path)).rejects.toThrow();
    // Of the CA that the API server's is of as well.
    const client = await clientCertificate(kubectl);
    const { status, body } = await tlsGet({ ...server, client }, path);
    expect([status, body.toString()]).toEqual([
      403,
      'the client certificate of "kubernetes-admin" is not that of a client which --client-name allows\n',
    ]);
    const health = await fetch(`http://127.0.0.1:${webhooks.ports[0]}/healthz`);
    expect(health.status).toBe(200);
  });

  test('the spec of a Bundle cannot be changed', async () => {
    await kubectl.apply(await aBundleOf('in-cluster-immutable'));
    await expectImmutable();
  });

  test('a ConfigMap that Bundles name is immutable, and stays', async () => {
    const configMap = { ...aConfigMap('named'), metadata: { name: 'named', namespace } };
    const source = ofConfigMap('named');
    await kubectl.apply(aBundle({ name: 'names-b', source }), aBundle({ name: 'names-a', source }));
    const mutable =
      'configmap "named" is referenced in .spec.source.configMaps[].configMap.name by bundles [names-a names-b]; referenced configmaps must have .immutable == true';
    await eventually(async () => {
      const create = ['create', '--dry-run=server', '-f', '-'];
      expect((await kubectl.run(create, JSON.stringify(configMap))).stderr.trim()).toBe(
        `Error from server (${mutable}): error when creating "STDIN": admission webhook "vconfigmaps.core.rukpak.io" denied the request: ${mutable}`,
      );
    });
    await kubectl.must(['create', '-f', '-'], JSON.stringify({ ...configMap, immutable: true }));
    const remove = ['delete', 'configmap', 'named', `--namespace=${namespace}`];
    const inUse = 'configmap "named" is in-use by bundle "names-a"';
    expect((await kubectl.run(remove)).stderr.trim()).toBe(
      `Error from server (${inUse}): admission webhook "vconfigmaps.core.rukpak.io" denied the request: ${inUse}`,
    );
    await kubectl.deleteNamed('bundle', ['names-a', 'names-b']);
    await eventually(() => kubectl.must(remove));
  });

  test('a Bundle does not name a ConfigMap that can change', async () => {
    const configMap = {
      ...aConfigMap('mutable'),
      metadata: { name: 'mutable', namespace },
    };
    await kubectl.must(['create', '-f', '-'], JSON.stringify(configMap));
    const source = ofConfigMap('mutable');
    const reason =
      'bundle.spec.source.configmaps[0].configmap.name is invalid: configmap "mutable" is not immutable';
    await eventually(async () => {
      const bundle = JSON.stringify(aBundle({ name: 'names-mutable', source }));
      const create = ['create', '--dry-run=server', '-f', '-'];
      expect((await kubectl.run(create, bundle)).stderr.trim()).toBe(
        `Error from server (${reason}): error when creating "STDIN": admission webhook "vbundles.core.rukpak.io" denied the request: ${reason}`,
      );
    });
  });
});

function ofConfigMap(name: string): BundleSource {
  return { type: 'configMaps', configMaps: [{ configMap: { name } }] };
}

async function expectImmutable(): Promise<void> {
  const patch = ['--type=merge', '-p', '{"spec":{"provisionerClassName":"other"}}'];
  const { stderr } = await kubectl.run(['patch', 'bundle', 'in-cluster-immutable', ...patch]);
  expect(stderr.trim()).toBe(
    'Error from server (bundle.spec is immutable): admission webhook "vbundles.core.rukpak.io" denied the request: bundle.spec is immutable',
  );
}

describe('content server', () => {
  async function caller(name: string): Promise<string> {
    return await tokenOf(kubectl, { namespace: callers.namespace, name });
  }

  beforeAll(async () => {
    await kubectl.apply(...callerObjects());
    await kubectl.apply(await aBundleOf('in-cluster-content'));
  });

  test('content is where status.contentURL says, for readers of bundles alone', async () => {
    const contentURL = await eventually(async () => {
      const { status } = (await kubectl.get('bundle', 'in-cluster-content')) as unknown as {
        status: { contentURL: string };
      };
      expect(status).toMatchObject({ phase: 'Unpacked' });
      return status.contentURL;
    });
    expect(contentURL).toBe(`https://${contentHost}/bundles/in-cluster-content.tgz`);
    const { pathname } = new URL(contentURL);
    const server = await system.contentServer(core);
    const unknown = await tlsGet(server, pathname);
    expect([unknown.status, unknown.body.toString()]).toEqual([401, 'Unauthorized\n']);
    const forged = await tlsGet(server, pathname, 'no-token');
    expect(forged.status).toBe(401);
    const stranger = await tlsGet(server, pathname, await caller('stranger'));
    expect([stranger.status, stranger.body.toString()]).toEqual([
      403,
      `Forbidden (user=system:serviceaccount:${callers.namespace}:stranger, verb=get, resource=, subresource=)\n`,
    ]);
    // The API server heeds a binding a moment after it was made.
    const content = await eventually(async () => {
      const { status, body } = await tlsGet(server, pathname, await caller('reader'));
      expect(status).toBe(200);
      return body;
    });
    expect(gunzipSync(content).toString('latin1')).toContain('manifests/all.yaml');
  });

  test('a client that trusts another CA does not talk to it', async () => {
    const { 'ca.crt': other = '' } = await secretData(kubectl, webhookSecret);
    const server = { ...(await system.contentServer(core)), ca: other };
    await expect(tlsGet(server, '/bundles/in-cluster-content.tgz')).rejects.toThrow(
      'unable to verify the first certificate',
    );
  });

  test('a client certificate of the cluster’s CA counts as it does at the API server', async () => {
    const server = await system.contentServer(core);
    const client = await clientCertificate(kubectl);
    await eventually(async () => {
      expect((await tlsGet({ ...server, client }, '/metrics')).status).toBe(200);
    });
  });

  test('metrics are for those who may get them', async () => {
    const server = await system.contentServer(core);
    expect((await tlsGet(server, '/metrics')).status).toBe(401);
    expect((await tlsGet(server, '/metrics', await caller('reader'))).status).toBe(403);
    await eventually(async () => {
      const { status, body } = await tlsGet(server, '/metrics', await caller('monitor'));
      expect(status).toBe(200);
      expect(body.toString()).toContain('controller_runtime_reconcile_total');
    });
  });
});

describe('certificates', () => {
  const hour = 3_600_000;

  async function writeSecret(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const encoded = Object.entries(data).map(([key, value]) => [key, btoa(value)]);
    const patch = JSON.stringify({ data: Object.fromEntries(encoded) });
    await kubectl.must([
      'patch',
      'secret',
      name,
      `--namespace=${namespace}`,
      '--type=merge',
      '-p',
      patch,
    ]);
  }

  /** Puts a certificate that ended an hour ago into the Secret. */
  async function expire(name: string, host: string): Promise<string> {
    const { 'ca.crt': certificate = '', 'ca.key': privateKey = '' } = await secretData(
      kubectl,
      name,
    );
    const now = Date.now();
    const validity = { notBefore: now - 2 * hour, notAfter: now - hour };
    const expired = await issueServingCertificate({ certificate, privateKey }, [host], validity);
    await writeSecret(name, { 'tls.crt': expired.certificate, 'tls.key': expired.privateKey });
    return expired.certificate;
  }

  test('an expired one is renewed, and the webhooks serve the new one', async () => {
    const { 'ca.crt': ca = '' } = await secretData(kubectl, webhookSecret);
    const server = { port: webhooks.ports[1] ?? 0, servername: webhookHost, ca };
    const before = await servedCertificate(server);
    await expire(webhookSecret, webhookHost);
    await eventually(async () => {
      const { fingerprint256 } = await servedCertificate(server);
      expect(fingerprint256).not.toBe(before.fingerprint256);
    });
    await expectImmutable();
  });

  test('others may replace authority and certificate', async () => {
    const state = await renewCertificates(undefined, [webhookHost, '127.0.0.1'], Date.now());
    await writeSecret(webhookSecret, {
      'ca.crt': state.caBundle,
      'ca.key': state.caKey,
      'tls.crt': state.serving.certificate,
      'tls.key': state.serving.privateKey,
    });
    const server = { port: webhooks.ports[1] ?? 0, servername: webhookHost };
    await eventually(() => servedCertificate({ ...server, ca: state.caBundle }));
    await eventually(async () => {
      const [webhook] = await system.overlay.webhooks();
      expect(webhook?.clientConfig.caBundle).toBe(btoa(state.caBundle));
    });
    await eventually(expectImmutable);
  });

  test('a Secret that is deleted comes back as it was', async () => {
    const { 'ca.crt': ca = '' } = await secretData(kubectl, webhookSecret);
    await kubectl.deleteNamed('secret', [webhookSecret], { namespace });
    await eventually(async () => {
      expect((await secretData(kubectl, webhookSecret))['ca.crt']).toBe(ca);
    });
    await expectImmutable();
  });

  test('core serves a renewed one once it is mounted', async () => {
    const server = await system.contentServer(core);
    const before = await servedCertificate(server);
    const expired = await expire('core-cert', contentHost);
    await eventually(async () => {
      expect((await secretData(kubectl, 'core-cert'))['tls.crt']).not.toBe(expired);
    });
    await core.mountSecrets();
    await eventually(async () => {
      const { fingerprint256 } = await servedCertificate(server);
      expect(fingerprint256).not.toBe(before.fingerprint256);
    });
  });
});

describe('leader election', () => {
  const names = Array.from({ length: 6 }, (_, index) => `in-cluster-${index}`);
  let standby: LocalPod;

  beforeAll(async () => {
    standby = await system.startCore();
  });

  async function holder(): Promise<string> {
    const lease = await kubectl.get('lease', 'core.rukpak.io', namespace);
    return (lease['spec'] as { holderIdentity: string }).holderIdentity;
  }

  async function installed(): Promise<readonly string[]> {
    const deployments = await kubectl.list('bundledeployments');
    return deployments
      .filter((deployment) => conditionOf(deployment, 'Installed')?.status === 'True')
      .map(({ metadata }) => metadata.name ?? '')
      .toSorted();
  }

  async function deploy(name: string, source: BundleSource): Promise<void> {
    await kubectl.apply(aBundleDeployment({ name, source }));
  }

  test('one works, and when it crashes the other finishes', async () => {
    for (const name of names) await deploy(name, await contentOf(name, aRole(name)));
    // Its content comes only after the crash, in this run as in the one before.
    const late = `in-cluster-late-${Date.now()}`;
    await deploy(late, anImage(`${registry}/e2e/${late}:v1`));
    await eventually(async () => expect((await installed()).length).toBeGreaterThan(0));
    expect(await archivesOf(standby)).toEqual([]);
    expect(standby.log).not.toContain('"leading"');
    const crashed = await holder();
    await core.end('SIGKILL');
    await contentOf(late);
    await eventually(async () => {
      expect(await installed()).toEqual([...names, late].toSorted());
    });
    expect(await holder()).not.toBe(crashed);
    const bundles = (await kubectl.list('bundles')).map(({ metadata }) => `${metadata.name}.tgz`);
    expect(bundles.filter((name) => /^in-cluster-(late|\d)-/.test(name))).toHaveLength(7);
    // The content that the other had stored is served again.
    await eventually(async () => expect(await archivesOf(standby)).toEqual(bundles.toSorted()));
  });

  test('a process that is told to stop hands over at once', async () => {
    await core.start();
    const stopped = await holder();
    expect(await standby.end('SIGTERM')).toBe(0);
    // Without the hand-over it would be the holder for fifteen seconds more.
    expect(await holder()).not.toBe(stopped);
    await eventually(async () => expect(await holder()).not.toBe(''));
    expect(await core.end('SIGTERM')).toBe(0);
    expect(await holder()).toBe('');
  });
});

describe('while no webhook answers', () => {
  beforeAll(async () => {
    expect(await webhooks.end('SIGTERM')).toBe(0);
  });

  test('changes that it would judge are refused', async () => {
    const configMap = { ...aConfigMap('late'), metadata: { name: 'late', namespace } };
    const { stderr } = await kubectl.run(['create', '-f', '-'], JSON.stringify(configMap));
    expect(stderr).toContain('failed calling webhook "vconfigmaps.core.rukpak.io"');
  });

  test('the ConfigMap that every pod waits for comes', async () => {
    const target = ['configmap', 'kube-root-ca.crt'] as const;
    await kubectl.must(['delete', ...target, `--namespace=${namespace}`]);
    await eventually(() => kubectl.get(...target, namespace));
  });
});

test('no right was missing', () => {
  for (const log of system.logs) expect(log).not.toMatch(/forbidden/i);
});
