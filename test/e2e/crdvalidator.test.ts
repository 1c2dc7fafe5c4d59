import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { apiServerOnly, InClusterSystem } from '../helpers/in-cluster-system.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { secretData } from '../helpers/secret-volume.ts';
import { crdWebhookConfiguration } from '../helpers/self-signed-overlay.ts';
import { servedCertificate } from '../helpers/tls-request.ts';

const namespace = 'crdvalidator-system';
const certificateSecret = 'crd-validation-webhook-serving-certificate';
const crd = 'sprockets.e2e.example.com';

let kubectl: Kubectl;
let system: InClusterSystem;
let validator: LocalPod;
let core: LocalPod;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await InClusterSystem.install({ kubectl, registry: plane.registry, inProcess: true });
  await system.startWebhooks();
  validator = await system.startCrdvalidator(apiServerOnly(plane.clusterDir));
  // It says what crdvalidator may list.
  core = await system.startCore();
});

afterAll(async () => {
  await system?.remove();
  await kubectl.deleteNamed('crd', [crd], { ignoreNotFound: true });
});

test('its pods are admitted', async () => {
  const place = [`--namespace=${namespace}`, '--timeout=300s'];
  await kubectl.must(['rollout', 'status', 'deployment/crd-validation-webhook', ...place]);
});

async function canI(...what: readonly string[]): Promise<string> {
  const user = `--as=system:serviceaccount:${namespace}:crd-validation-webhook`;
  return (await kubectl.run(['auth', 'can-i', ...what, user, '-n', namespace])).stdout.trim();
}

test('it may list custom resources, no Secrets, and change nothing but its own', async () => {
  await eventually(async () => {
    expect(await canI('list', 'bundledeployments.core.rukpak.io')).toBe('yes');
  });
  expect(await canI('list', 'secrets')).toBe('no');
  expect(await canI('list', 'configmaps', '--all-namespaces')).toBe('no');
  expect(await canI('list', 'clusterroles')).toBe('no');
  expect(await canI('get', 'bundledeployments.core.rukpak.io')).toBe('no');
  expect(await canI('watch', 'customresourcedefinitions')).toBe('yes');
  expect(await canI('get', `secret/${certificateSecret}`)).toBe('yes');
  expect(await canI('get', 'secret/other')).toBe('no');
  expect(await canI('update', 'customresourcedefinitions')).toBe('no');
});

test('it answers with a certificate of its own, whose CA the configuration names', async () => {
  const { 'ca.crt': ca = '' } = await secretData(kubectl, certificateSecret, namespace);
  const [webhook] = await system.overlay.webhooks(crdWebhookConfiguration);
  expect(webhook?.clientConfig.caBundle).toBe(btoa(ca));
  const servername = `crd-validation-webhook.${namespace}.svc`;
  await servedCertificate({ port: validator.ports[1] ?? 0, servername, ca });
});

test('with its own rights it refuses what existing objects would break', async () => {
  const labels = { 'core.rukpak.io/owner-kind': 'BundleDeployment' };
  const first = { ...aCRD('Sprocket'), metadata: { name: crd, labels } };
  await kubectl.apply(first);
  await kubectl.must(['wait', '--for=condition=Established', '--timeout=300s', `crd/${crd}`]);
  const sprocket = {
    apiVersion: 'e2e.example.com/v1',
    kind: 'Sprocket',
    metadata: { name: 's' },
    spec: {},
  };
  await eventually(() => kubectl.must(['apply', '-f', '-'], JSON.stringify(sprocket)));
  const required = JSON.stringify(first).replace(
    '"spec":{"type":"object",',
    '"spec":{"type":"object","required":["size"],',
  );
  const { stderr } = await kubectl.run(
    ['apply', '--server-side', '--field-manager=e2e', '-f', '-'],
    required,
  );
  expect(stderr).toContain(
    'existing custom object default/s failed validation for new schema version v1: [].spec.size: Required value\n',
  );
  expect(validator.log).not.toMatch(/forbidden/i);
  expect(core.log).not.toMatch(/forbidden/i);
  await kubectl.deleteNamed('crd', [crd]);
  await eventually(async () => {
    const role = await kubectl.get('clusterrole', 'crd-validation-webhook-resources');
    expect(JSON.stringify(role['rules'])).not.toContain('sprockets');
  });
});
