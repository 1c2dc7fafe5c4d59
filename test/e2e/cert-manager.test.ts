// @module-tag long
import { X509Certificate } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { CertManager, renewCertificate } from '../helpers/cert-manager/cert-manager.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { everyObject, nothingIsLeft } from '../helpers/every-object.ts';
import { howtoBlock, runCommand } from '../helpers/howto.ts';
import {
  catalogsHost,
  contentHost,
  InClusterSystem,
  webhookHost,
} from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aConfigMap, aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { Release } from '../helpers/release.ts';
import { ownOverlay } from '../helpers/render-overlay.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { secretData } from '../helpers/secret-volume.ts';
import { crdWebhookConfiguration, webhookConfiguration } from '../helpers/self-signed-overlay.ts';
import { servedCertificate } from '../helpers/tls-request.ts';
import { UnpackedImage } from '../helpers/unpacked-image.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const name = 'certified';
const page = 'install.md';
const overlay = 'kustomize/overlays/cert-manager';
const component = 'kustomize/components/operators-cert-manager';
const namespace = 'rukpak-system';
const crdNamespace = 'crdvalidator-system';
const crdHost = `crd-validation-webhook.${crdNamespace}.svc`;

const crd = aCRD('Certified') as KubernetesObject;
const crdName = crd.metadata.name ?? '';

let image: UnpackedImage | undefined;
let certManager: CertManager | undefined;
let system: InClusterSystem;
let webhooks: LocalPod;
let crdvalidator: LocalPod;
let core: LocalPod;
let operators: LocalPod;
/** Of the overlay, with OLM 1.0. */
let own: string;
let howto: Parameters<typeof runCommand>[0];
/** By their names, before anything was installed. */
let before: ReadonlySet<string>;

beforeAll(async () => {
  const release = await Release.shared();
  image = await UnpackedImage.pull(await release.image());
  own = await ownOverlay(release.path(overlay), release.path(component));
  howto = { page, kubectl, kubeconfig, files: { [`release/${overlay}`]: own } };
  system = await InClusterSystem.prepare({
    kubectl,
    registry,
    overlay: own,
    image,
    byServices: true,
  });
  await system.overlay.remove();
  certManager = await CertManager.start({ kubectl, kubeconfig });
  before = new Set((await everyObject(kubectl)).keys());
}, 1_800_000);

afterAll(async () => {
  await system?.remove();
  await certManager?.remove();
  await image?.remove();
  if (own !== undefined) await rm(own, { recursive: true, force: true });
});

/** Of a Certificate: how long what it issues is valid, and how long before its end it is renewed. */
async function lifetimeOf(certificate: string) {
  const found = await kubectl.get('certificate.cert-manager.io', certificate, namespace);
  const status = found['status'] as Record<'notBefore' | 'notAfter' | 'renewalTime', string>;
  const end = Date.parse(status.notAfter);
  return { whole: end - Date.parse(status.notBefore), rest: end - Date.parse(status.renewalTime) };
}

async function install(): Promise<void> {
  const command = `kubectl apply --server-side -k release/${overlay}`;
  expect(await readFile(join('docs/howto', page), 'utf8')).toContain(`\`${command}\``);
  await runCommand(howto, command);
}

/** Webhooks of both processes answer: a CRD is let pass, and a change of a Bundle is refused. */
async function webhooksAnswer(): Promise<void> {
  await kubectl.must(['label', 'crd', crdName, `asked=at-${Date.now()}`, '--overwrite']);
  const [bundle] = await kubectl.list('bundles', `core.rukpak.io/owner-name=${name}`);
  const patch = JSON.stringify({ spec: { source: { image: { ref: 'example.invalid/other:1' } } } });
  const target = ['bundle', bundle?.metadata.name ?? '', '--type=merge', '-p', patch];
  const { stderr } = await kubectl.run(['patch', ...target]);
  expect(stderr).toContain('bundle.spec is immutable');
}

interface InSecret {
  readonly secret: string;
  readonly namespace: string;
  /** That trusts it. */
  readonly configuration?: string;
}

interface Served extends InSecret {
  readonly certificate: string;
  readonly host: string;
  readonly pod: () => LocalPod;
}

const served: readonly Served[] = [
  {
    certificate: 'rukpak-webhook-certificate',
    secret: 'rukpak-webhook-certificate',
    namespace,
    host: webhookHost,
    pod: () => webhooks,
    configuration: webhookConfiguration,
  },
  {
    certificate: 'crd-validation-webhook-certificate',
    secret: 'crd-validation-webhook-certificate',
    namespace: crdNamespace,
    host: crdHost,
    pod: () => crdvalidator,
    configuration: crdWebhookConfiguration,
  },
  { certificate: 'core', secret: 'core-cert', namespace, host: contentHost, pod: () => core },
  {
    certificate: 'rukpak-catalogs',
    secret: 'rukpak-catalogs-cert',
    namespace,
    host: catalogsHost,
    pod: () => operators,
  },
];

/** In its Secret. */
async function issuedCertificate({ secret, namespace: place }: InSecret): Promise<X509Certificate> {
  return new X509Certificate((await secretData(kubectl, secret, place))['tls.crt'] ?? '');
}

/** The API server has the CA of the Secret; cainjector keeps former ones beside it. */
async function isTrusted({ secret, namespace: place, configuration }: InSecret): Promise<void> {
  if (configuration === undefined) return;
  await eventually(async () => {
    const { 'ca.crt': ca = '' } = await secretData(kubectl, secret, place);
    for (const { clientConfig } of await system.overlay.webhooks(configuration)) {
      expect(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()).toContain(ca);
    }
  });
}

/** Its process serves what is in the Secret, to clients that trust the CA in it. */
async function isServed(each: Served): Promise<void> {
  const { secret, namespace: place, host: servername, pod } = each;
  const { 'ca.crt': ca = '' } = await secretData(kubectl, secret, place);
  const { fingerprint256 } = await issuedCertificate(each);
  await eventually(async () => {
    const shown = await servedCertificate({ port: pod().ports[1] ?? 0, servername, ca });
    expect(shown.fingerprint256).toBe(fingerprint256);
  });
}

async function isIssuedAgain(each: InSecret, renew: () => Promise<unknown>): Promise<void> {
  const { fingerprint256: former } = await issuedCertificate(each);
  await renew();
  await eventually(async () => {
    expect((await issuedCertificate(each)).fingerprint256).not.toBe(former);
  });
  await isTrusted(each);
}

test('the howto’s installation has certificates by cert-manager, and installs a bundle', async () => {
  await install();
  await certManager?.issued();
  webhooks = await system.startWebhooks([], () => system.overlay.apply());
  crdvalidator = await system.startCrdvalidator();
  core = await system.startCore();
  operators = await system.startOperators();
  const place = { kubectl, registry, prefix: 'cert-manager' };
  const spec = { deletionPolicy: 'Delete' };
  await rollOutPlain(place, { name, objects: [aConfigMap(name), crd], spec });
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')?.status).toBe('True');
  }, patiently);
  for (const each of served) {
    await isTrusted(each);
    await isServed(each);
  }
  await webhooksAnswer();
});

test('no certificate outlives the authority that signed it', async () => {
  const { whole } = await lifetimeOf('core');
  expect((await lifetimeOf('rukpak-ca')).rest).toBeGreaterThanOrEqual(whole);
});

test('a renewed certificate is served without a restart, and no request is refused for it', async () => {
  for (const each of served) {
    await isIssuedAgain(each, () => renewCertificate(kubectl, each.certificate, each.namespace));
    // The kubelet has not seen it yet.
    await webhooksAnswer();
    await each.pod().mountSecrets();
    await isServed(each);
    await webhooksAnswer();
  }
});

test('a new authority signs what is issued after it; what the former has signed stays trusted', async () => {
  const authority = { secret: 'rukpak-ca', namespace };
  await isIssuedAgain(authority, () => renewCertificate(kubectl, 'rukpak-ca', namespace));
  const { 'tls.crt': ca = '' } = await secretData(kubectl, authority.secret);
  const signed = served.filter(({ pod }) => [core, operators].includes(pod()));
  for (const each of signed) {
    await isServed(each);
    await isIssuedAgain(each, () => renewCertificate(kubectl, each.certificate, namespace));
    expect(await secretData(kubectl, each.secret)).toMatchObject({ 'ca.crt': ca });
    await each.pod().mountSecrets();
    await isServed(each);
  }
});

test('a certificate whose Secret was deleted is issued and served again', async () => {
  for (const each of served) {
    await isIssuedAgain(each, () =>
      kubectl.must(['delete', 'secret', each.secret, '--namespace', each.namespace]),
    );
    await each.pod().mountSecrets();
    await isServed(each);
  }
  await webhooksAnswer();
});

test('nothing of it is left after the howto’s uninstallation', async () => {
  const ended = eventually(async () => {
    expect(await kubectl.exists('deployment', 'core', namespace)).toBe(false);
  }, patiently).then(() => system.stop());
  for (const line of await howtoBlock(page, `kubectl delete -k release/${overlay}`)) {
    await runCommand(howto, line);
  }
  await ended;
  await nothingIsLeft(kubectl, before);
});
