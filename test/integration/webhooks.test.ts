import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { createCertificateRotation } from '../../core/platform/certificates/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect, isNotFound, type KubeConnection } from '../../core/platform/kube/index.ts';
import { installManifests } from '../../deploy/install-manifests.ts';
import type { CABundleInjection } from '../../webhooks/ca-injection.ts';
import {
  admissionRoutes,
  createCABundleInjection,
  startWebhookServer,
  type WebhookServer,
} from '../../webhooks/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const id = `webhooks-${randomUUID().slice(0, 6)}`;
const configMapResource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const clock = systemClock;
const logger = silentLogger;
/** ConfigMap name to the Bundles that name it. */
const references = new Map<string, string[]>();

let kube: KubeConnection;
let server: WebhookServer;
let injection: CABundleInjection;
const abort = new AbortController();
const running: Promise<void>[] = [];

beforeAll(async () => {
  const { signal } = abort;
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'webhooks-test' });
  const { client } = kube;
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: id } });
  const secret = { namespace: id, name: 'rukpak-webhook-certificate' };
  const hosts = ['127.0.0.1'];
  const rotation = createCertificateRotation({ client, clock, logger, secret, hosts });
  const certificates = await rotation.ensure(signal);
  server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates: certificates.serving,
    routes: admissionRoutes({
      client,
      requireServiceAccount: false,
      systemNamespace: id,
      bundles: { bundlesReferencing: async (name) => references.get(name) ?? [] },
      deployments: { dependenciesOf: () => [] },
      ruleProblem: () => undefined,
      configMaps: {
        get: async (name, getSignal) => {
          const key = { namespace: id, name };
          const found = await client.get(configMapResource, key, getSignal).catch((error) => {
            if (isNotFound(error)) return undefined;
            throw error;
          });
          return found && { immutable: found['immutable'] === true };
        },
      },
    }),
    clock,
    logger,
  });
  await install(`https://127.0.0.1:${server.port}`);
  injection = createCABundleInjection({
    client,
    clock,
    logger,
    webhookConfiguration: id,
    kind: 'ValidatingWebhookConfiguration',
  });
  const mutating = createCABundleInjection({
    client,
    clock,
    logger,
    webhookConfiguration: id,
    kind: 'MutatingWebhookConfiguration',
  });
  running.push(
    injection.run(signal),
    mutating.run(signal),
    rotation.run(({ caBundle, serving }) => {
      server.useCertificates(serving);
      injection.setBundle(caBundle);
      mutating.setBundle(caBundle);
    }, signal),
  );
  await webhooksAreAsked();
});

afterAll(async () => {
  for (const kind of ['validatingwebhookconfiguration', 'mutatingwebhookconfiguration']) {
    await kubectl.deleteNamed(kind, [id], { ignoreNotFound: true });
  }
  abort.abort();
  await Promise.all(running);
  await server?.close();
  await kubectl.deleteNamed('namespace', [id], { wait: false, ignoreNotFound: true });
  await kube?.close();
});

/** The API server learns of a new configuration in its own time, and of each in another. */
async function webhooksAreAsked(): Promise<void> {
  await eventually(async () => {
    const bad = aBundle('probe', { type: 'image', upload: {} });
    expect((await create(bad, '--dry-run=server')).stderr).toContain('denied the request');
    const noted = await create(aDeployment('probe'), '--dry-run=server', '--output=json');
    expect(noted.stdout).toContain('"core.rukpak.io/changed-by"');
  });
}

/** The shipped configuration under a name of its own, and for objects of these tests alone. */
async function install(webhookUrl: string): Promise<void> {
  const objects = installManifests({ webhookUrl, systemNamespace: id });
  const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await kubectl.apply(...crds);
  for (const { metadata } of crds) {
    const crd = `crd/${metadata.name}`;
    await kubectl.must(['wait', '--for=condition=Established', '--timeout=180s', crd]);
  }
  const objectSelector = { matchLabels: { test: id } };
  for (const shipped of objects) {
    if (!/^rukpak-\w+-webhook-configuration$/.test(shipped.metadata.name ?? '')) continue;
    const webhooks = (shipped['webhooks'] as object[]).map((hook) => ({ ...hook, objectSelector }));
    await kubectl.apply({ ...shipped, metadata: { name: id }, webhooks });
  }
}

function aBundle(name: string, source: object): object {
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name: `${id}-${name}`, labels: { test: id } },
    // A class that nothing serves.
    spec: { provisionerClassName: id, source },
  };
}

function aDeployment(name: string): object {
  const template = { spec: { provisionerClassName: id, source: image } };
  const metadata = { name: `${id}-${name}`, labels: { test: id } };
  const [apiVersion, kind] = ['core.rukpak.io/v1alpha1', 'BundleDeployment'];
  return { apiVersion, kind, metadata, spec: { provisionerClassName: id, template } };
}

function aConfigMap(name: string, fields: object = {}): object {
  const metadata = { name, namespace: id, labels: { test: id } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...fields };
}

async function create(object: object, ...flags: string[]) {
  return kubectl.run(['create', ...flags, '-f', '-'], JSON.stringify(object));
}

async function createBundle(name: string, source: object): Promise<string> {
  await kubectl.must(['create', '-f', '-'], JSON.stringify(aBundle(name, source)));
  onTestFinished(async () => void (await kubectl.run(['delete', 'bundle', `${id}-${name}`])));
  return `${id}-${name}`;
}

/** What kubectl prints of a denial; between the halves it says what it was doing, if creating. */
function refusal(text: string, { webhook = 'vbundles.core.rukpak.io', doing = creating } = {}) {
  return `Error from server (${text}): ${doing}admission webhook "${webhook}" denied the request: ${text}\n`;
}

const creating = 'error when creating "STDIN": ';

const image = { type: 'image', image: { ref: 'x' } };

test('a patched spec is refused in exactly the words that users know', async () => {
  const name = await createBundle('immutable', image);
  const immutable =
    'Error from server (bundle.spec is immutable): admission webhook "vbundles.core.rukpak.io" denied the request: bundle.spec is immutable\n';
  const merge = '{"spec":{"source":{"image":{"ref":"y"}}}}';
  const merged = await kubectl.run(['patch', 'bundle', name, '--type=merge', '-p', merge]);
  expect(merged).toEqual({ code: 1, stdout: '', stderr: immutable });
  const json = '[{"op":"replace","path":"/spec/provisionerClassName","value":"other"}]';
  const jsoned = await kubectl.run(['patch', 'bundle', name, '--type=json', '-p', json]);
  expect(jsoned.stderr).toBe(immutable);
});

test('metadata, status and what means the same may change', async () => {
  const git = { repository: 'https://example.com/r', ref: { branch: 'main' } };
  const name = await createBundle('same', { type: 'git', git });
  await kubectl.must(['label', 'bundle', name, 'l=1']);
  const auth = '{"spec":{"source":{"git":{"auth":{"secret":{}}}}}}';
  await kubectl.must(['patch', 'bundle', name, '--type=merge', '-p', auth]);
  const status = ['--subresource=status', '--type=merge', '-p', '{"status":{"phase":"Pending"}}'];
  await kubectl.must(['patch', 'bundle', name, ...status]);
  expect((await kubectl.get('bundle', name)).metadata.generation).toBe(2);
});

test.each<[source: object, text: string]>([
  [{ type: 'image', upload: {} }, 'bundle.spec.source.image must be set for source type "image"'],
  [{ type: 'git', upload: {} }, 'bundle.spec.source.git must be set for source type "git"'],
  [
    { type: 'git', git: { repository: 'r', ref: { tag: 't' }, directory: './../x' } },
    'bundle.spec.source.git.directory begins with "../": directory must define path within the repository',
  ],
  [
    { type: 'configMaps', configMaps: [] },
    'bundle.spec.source.configmaps must be set for source type "configmaps"',
  ],
  [
    { type: 'configMaps', configMaps: [{ configMap: { name: 'none' }, path: '../x' }] },
    'bundle.spec.source.configmaps[0].path is invalid: "../x" is outside bundle root',
  ],
])('a Bundle with source %j is refused', async (source, text) => {
  expect((await create(aBundle('bad', source))).stderr).toBe(refusal(text));
});

test('a Bundle may name a ConfigMap that is absent or immutable, not a mutable one', async () => {
  await kubectl.apply(aConfigMap('mutable'), aConfigMap('frozen', { immutable: true }));
  const source = (...names: string[]) => ({
    type: 'configMaps',
    configMaps: names.map((name) => ({ configMap: { name } })),
  });
  const fault = (index: number) =>
    `bundle.spec.source.configmaps[${index}].configmap.name is invalid: configmap "mutable" is not immutable`;
  const one = await create(aBundle('cm', source('frozen', 'mutable')));
  expect(one.stderr).toBe(refusal(fault(1)));
  const two = await create(aBundle('cm', source('mutable', 'mutable')));
  expect(two.stderr).toBe(refusal(`[${fault(0)}, ${fault(1)}]`));
  await createBundle('cm', source('frozen', 'absent'));
});

test('a ConfigMap in use is not created mutable and not deleted', async () => {
  references.set('used', ['b1', 'b2']);
  onTestFinished(() => void references.delete('used'));
  const webhook = 'vconfigmaps.core.rukpak.io';
  const mutable =
    'configmap "used" is referenced in .spec.source.configMaps[].configMap.name by bundles [b1 b2]; referenced configmaps must have .immutable == true';
  expect((await create(aConfigMap('used'))).stderr).toBe(refusal(mutable, { webhook }));
  await kubectl.must(
    ['create', '-f', '-'],
    JSON.stringify(aConfigMap('used', { immutable: true })),
  );
  const deletion = await kubectl.run(['delete', 'configmap', 'used', '--namespace', id]);
  expect(deletion.stderr).toBe(
    refusal('configmap "used" is in-use by bundle "b1"', { webhook, doing: '' }),
  );
  references.delete('used');
  await kubectl.deleteNamed('configmap', ['used'], { namespace: id });
});

/** What the API server makes of a change of a BundleDeployment by a user. */
async function noteAfter(user: string, ...words: readonly string[]): Promise<string | undefined> {
  const as = [`--as=${user}`, '--as-group=system:masters', '--output=json'];
  const text = await kubectl.must([...words, ...as]);
  const { metadata } = JSON.parse(text) as KubernetesObject;
  return metadata.annotations?.['core.rukpak.io/changed-by'];
}

test('who changed a BundleDeployment is noted, by dry runs too, and nobody forges it', async () => {
  const name = `${id}-noted`;
  const as = ['--as=alice', '--as-group=system:masters'];
  await kubectl.must(['create', ...as, '-f', '-'], JSON.stringify(aDeployment('noted')));
  onTestFinished(async () => void (await kubectl.run(['delete', 'bundledeployment', name])));
  const patch = (spec: object) => {
    const merge = JSON.stringify({ spec });
    return ['patch', 'bundledeployment', name, '--type=merge', `--patch=${merge}`];
  };
  expect(await noteAfter('eve', 'get', 'bundledeployment', name)).toBe('alice');
  const forged = ['annotate', 'bundledeployment', name, '--overwrite'];
  const annotation = 'core.rukpak.io/changed-by=mallory';
  expect(await noteAfter('bob', ...forged, annotation)).toBe('alice');
  expect(await noteAfter('bob', ...patch({ paused: true }))).toBe('alice');
  const config = { config: { values: 'x' } };
  expect(await noteAfter('bob', ...patch(config), '--dry-run=server')).toBe('bob');
  expect(await noteAfter('eve', 'get', 'bundledeployment', name)).toBe('alice');
  expect(await noteAfter('bob', ...patch(config))).toBe('bob');
});

test('a CA bundle that someone overwrites is put back', async () => {
  const caBundleOf = async () => {
    const configuration = await kubectl.get('validatingwebhookconfiguration', id);
    const hooks = configuration['webhooks'] as { clientConfig: { caBundle?: string } }[];
    return hooks.map(({ clientConfig }) => clientConfig.caBundle);
  };
  const before = await caBundleOf();
  const removal = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }];
  const patch = ['--type=json', `--patch=${JSON.stringify(removal)}`];
  await kubectl.must(['patch', 'validatingwebhookconfiguration', id, ...patch]);
  await eventually(async () => expect(await caBundleOf()).toEqual(before));
  await webhooksAreAsked();
});

test('a Secret that someone deletes is put back, and the webhooks go on', async () => {
  const secretOf = async () => {
    const secret = await kubectl.get('secret', 'rukpak-webhook-certificate', id);
    return secret['data'];
  };
  const before = await secretOf();
  await kubectl.deleteNamed('secret', ['rukpak-webhook-certificate'], { namespace: id });
  await eventually(async () => expect(await secretOf()).toEqual(before));
  await webhooksAreAsked();
});
