import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerObjects, callers } from '../helpers/callers.ts';
import { eventually } from '../helpers/eventually.ts';
import { parseExposition, valueOf } from '../helpers/exposition.ts';
import { InClusterSystem } from '../helpers/in-cluster-system.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { LocalPod } from '../helpers/local-pod.ts';
import { aBundle, aBundleDeployment, aConfigMap, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { tokenOf } from '../helpers/service-account.ts';
import { tlsGet } from '../helpers/tls-request.ts';

const name = 'measured';

let kubectl: Kubectl;
let registry: string;
let system: InClusterSystem;
let webhooks: LocalPod;
let core: LocalPod;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await InClusterSystem.install({ kubectl, registry });
  await kubectl.apply(...callerObjects());
  webhooks = await system.startWebhooks();
  core = await system.startCore();
});

afterAll(async () => {
  await system?.remove();
  const kinds = 'namespaces,clusterrolebindings';
  await kubectl.deleteAll(kinds, { selector: callers.selector });
});

/** GET /metrics of core with the token of an account. */
async function answerTo(account: string) {
  const token = await tokenOf(kubectl, { namespace: callers.namespace, name: account });
  return await tlsGet(await system.contentServer(core), '/metrics', token);
}

async function scrapeCore() {
  const { status, body } = await answerTo('monitor');
  expect(status).toBe(200);
  return parseExposition(body.toString());
}

async function scrapeWebhooks() {
  const answer = await fetch(`http://127.0.0.1:${webhooks.ports[2]}/metrics`);
  expect(answer.status).toBe(200);
  return parseExposition(await answer.text());
}

test('core shows its metrics to rukpak-metrics-reader alone', async () => {
  expect((await answerTo('stranger')).status).toBe(403);
  const families = await scrapeCore();
  expect(families.get('rukpak_unpack_duration_seconds')?.type).toBe('histogram');
  for (const [family, { type, help }] of families) {
    expect(help, family).not.toBe('');
    // Node has gauges of its own that end in _total.
    if (family.startsWith('nodejs_')) continue;
    expect(family.endsWith('_total'), family).toBe(type === 'counter');
  }
});

test('an installation, a repair and what nobody serves move them', async () => {
  const before = await scrapeCore();
  const files = plainFiles([aConfigMap(name)]);
  const source = await pushContent({ registry, name, version: 1, files });
  await kubectl.apply(
    aBundleDeployment({ name, source }),
    aBundle({ name: 'unserved', className: 'nobody', source }),
    aBundle({ name: 'measured-waiting', source: anImage(`${registry}/e2e/missing:v1`) }),
  );
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')?.status).toBe('True');
    const bundle = await kubectl.get('bundle', 'measured-waiting');
    expect(conditionOf(bundle, 'Unpacked')?.reason).toBe('UnpackPending');
  });
  await kubectl.deleteNamed('configmap', [name], { namespace: 'default' });
  await eventually(() => kubectl.get('configmap', name, 'default'));

  const healthy = { type: 'Healthy', status: 'True', reason: 'Healthy' };
  const after = await eventually(async () => {
    const scrape = await scrapeCore();
    expect(valueOf(scrape, 'rukpak_drift_repairs_total')).toBe(1);
    // What waits is tried again now and then, and is at work meanwhile.
    expect(valueOf(scrape, 'rukpak_bundles', { phase: 'Pending' })).toBe(1);
    expect(valueOf(scrape, 'rukpak_bundles', { phase: 'Unpacked' })).toBe(1);
    expect(valueOf(scrape, 'rukpak_bundle_deployment_conditions', healthy)).toBe(1);
    for (const controller of ['bundle', 'bundledeployment']) {
      expect(valueOf(scrape, 'workqueue_depth', { controller })).toBe(0);
    }
    return scrape;
  });
  const moved = (metric: string, labels = {}) =>
    valueOf(after, metric, labels) - valueOf(before, metric, labels);
  const unpacked = { source: 'image', outcome: 'unpacked' };
  expect(moved('rukpak_unpack_duration_seconds_count', unpacked)).toBe(1);
  expect(
    moved('rukpak_unpack_duration_seconds_count', { outcome: 'waiting' }),
  ).toBeGreaterThanOrEqual(1);
  expect(moved('rukpak_unpack_bytes_total', { source: 'image' })).toBeGreaterThan(50);
  for (const phase of ['convert', 'persist']) {
    expect(moved('rukpak_unpack_phase_duration_seconds_count', { phase })).toBe(1);
  }
  const installed = { operation: 'install', outcome: 'success' };
  expect(moved('rukpak_apply_duration_seconds_count', installed)).toBe(1);
  expect(moved('rukpak_apply_changes_total', { operation: 'install' })).toBe(1);
  expect(moved('rukpak_apply_requests_total')).toBeGreaterThanOrEqual(2);
  for (const controller of ['bundle', 'bundledeployment']) {
    expect(moved('workqueue_adds_total', { controller })).toBeGreaterThan(0);
    expect(moved('workqueue_work_duration_seconds_count', { controller })).toBeGreaterThan(0);
    expect(moved('controller_runtime_reconcile_total', { controller })).toBeGreaterThan(0);
  }
  expect(valueOf(after, 'leader_election_master_status', { name: 'core.rukpak.io' })).toBe(1);
  expect(valueOf(after, 'rukpak_unserved_objects', { kind: 'Bundle', class: 'nobody' })).toBe(1);
  expect(moved('rukpak_content_requests_total', { method: 'GET', code: '200' })).toBeGreaterThan(0);
  const certificate = { certificate: 'content-server' };
  expect(valueOf(after, 'rukpak_certificate_expiry_seconds', certificate)).toBeGreaterThan(
    Date.now() / 1000,
  );
  const labels = [...after.values()].flatMap(({ samples }) =>
    samples.flatMap((sample) => Object.values(sample.labels)),
  );
  // No object's name is a label: there may be any number of them.
  for (const object of [name, 'unserved', 'measured-waiting']) expect(labels).not.toContain(object);
});

test('each line of a reconcile names its object, and the reconcile', () => {
  const lines = core.log
    .split('\n')
    // The last one may still be under way.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
  const reconciles = lines.filter((line) => line['controller'] !== undefined);
  for (const line of reconciles) {
    expect(line).toMatchObject({
      level: expect.stringMatching(/^(debug|info|warn|error)$/),
      kind: expect.stringMatching(/^Bundle(Deployment)?$/),
      name: expect.stringMatching(/./),
      reconcileID: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  }
  expect(reconciles).toContainEqual(
    expect.objectContaining({ kind: 'BundleDeployment', name, msg: 'objects applied', changes: 1 }),
  );
  expect(reconciles).toContainEqual(
    expect.objectContaining({ kind: 'Bundle', name: 'measured-waiting', msg: 'waiting' }),
  );
});

test('the webhooks show theirs', async () => {
  const webhook = '/validate-core-rukpak-io-v1alpha1-bundle';
  const answered = { webhook, code: '200' };
  const count = 'controller_runtime_webhook_requests_total';
  const families = await eventually(async () => {
    const scrape = await scrapeWebhooks();
    const inFlight = 'controller_runtime_webhook_requests_in_flight';
    expect(valueOf(scrape, inFlight, { webhook })).toBe(0);
    return scrape;
  });
  expect(valueOf(families, count, answered)).toBeGreaterThanOrEqual(2);
  expect(
    valueOf(families, 'controller_runtime_webhook_latency_seconds_count', { webhook }),
  ).toBeGreaterThanOrEqual(2);
  expect(
    valueOf(families, 'rukpak_certificate_expiry_seconds', { certificate: 'webhook' }),
  ).toBeGreaterThan(Date.now() / 1000);
});

test('an Event on the lease tells who leads', async () => {
  const { identity } = await leader();
  await eventually(async () => {
    const events = await kubectl.list('events');
    const told = events.filter((event) => event['reason'] === 'LeaderElection');
    expect(told.map((event) => event['message'])).toContain(`${identity} became leader`);
  });
});

async function leader(): Promise<{ readonly identity: string }> {
  const lease = await kubectl.get('lease', 'core.rukpak.io', 'rukpak-system');
  return { identity: (lease['spec'] as { holderIdentity: string }).holderIdentity };
}
