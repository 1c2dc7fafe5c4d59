import { generate } from 'selfsigned';
import { expect, test } from 'vitest';
import { Exposition, Metrics } from './metrics.ts';
import { WebhookMetrics } from './serving-metrics.ts';

async function linesOf(exposition: Exposition): Promise<readonly string[]> {
  const { contentType, body } = await exposition.render();
  expect(contentType).toMatch(/^text\/plain/);
  return body.split('\n');
}

test('metrics of controllers have the names and labels of controller-runtime', async () => {
  const metrics = new Metrics();
  const { controllers, queues, leader } = metrics;
  controllers.reconcileTotal('bundle', 'success');
  controllers.reconcileTotal('bundle', 'error');
  controllers.reconcileTotal('bundle', 'requeue_after');
  controllers.reconcileTime('bundle', 0.2);
  controllers.activeWorkers('bundle', 3);
  controllers.maxWorkers('bundle', Number.POSITIVE_INFINITY);
  queues.watch('bundle', () => ({ depth: 7, oldestAge: 2.5, running: [1, 3] }));
  queues.watch('bundledeployment', () => ({ depth: 0, oldestAge: 0, running: [] }));
  queues.added('bundle');
  queues.waited('bundle', 0.5);
  queues.worked('bundle', 0.5);
  queues.retried('bundle');
  leader.leads('core.rukpak.io', true);
  const lines = await linesOf(metrics);
  expect(lines).toEqual(
    expect.arrayContaining([
      'controller_runtime_reconcile_total{controller="bundle",result="success"} 1',
      'controller_runtime_reconcile_total{controller="bundle",result="error"} 1',
      'controller_runtime_reconcile_total{controller="bundle",result="requeue_after"} 1',
      'controller_runtime_reconcile_errors_total{controller="bundle"} 1',
      'controller_runtime_reconcile_time_seconds_bucket{le="0.1",controller="bundle"} 0',
      'controller_runtime_reconcile_time_seconds_bucket{le="0.25",controller="bundle"} 1',
      'controller_runtime_active_workers{controller="bundle"} 3',
      'controller_runtime_max_concurrent_reconciles{controller="bundle"} +Inf',
      'workqueue_depth{name="bundle",controller="bundle"} 7',
      'workqueue_adds_total{name="bundle",controller="bundle"} 1',
      'workqueue_queue_duration_seconds_count{name="bundle",controller="bundle"} 1',
      'workqueue_work_duration_seconds_count{name="bundle",controller="bundle"} 1',
      'workqueue_unfinished_work_seconds{name="bundle",controller="bundle"} 4',
      'workqueue_longest_running_processor_seconds{name="bundle",controller="bundle"} 3',
      'workqueue_longest_running_processor_seconds{name="bundledeployment",controller="bundledeployment"} 0',
      'workqueue_retries_total{name="bundle",controller="bundle"} 1',
      'rukpak_queue_oldest_age_seconds{name="bundle",controller="bundle"} 2.5',
      'leader_election_master_status{name="core.rukpak.io"} 1',
    ]),
  );
  expect(lines.join('\n')).toMatch(/^process_cpu_seconds_total \d/m);
  expect(lines.join('\n')).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
});

test('the memory budget is told as it is at a scrape', async () => {
  const metrics = new Metrics();
  metrics.memory.watch({ bytes: 100, taken: 60, waiting: 2, ended: 3 });
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining([
      'rukpak_memory_budget_bytes 100',
      'rukpak_memory_reserved_bytes 60',
      'rukpak_memory_waiting_fetches 2',
      'rukpak_memory_ended_total 3',
    ]),
  );
});

test('metrics of our own count what is unpacked and applied', async () => {
  const metrics = new Metrics();
  metrics.unpacking.ended('image', 'unpacked', 3);
  metrics.unpacking.phaseEnded('image', 'fetch', 2);
  metrics.unpacking.fetched('image', 1024);
  metrics.applying.applied({ operation: 'install', outcome: 'success', seconds: 1 });
  metrics.applying.changed('install', 4);
  metrics.applying.requested();
  metrics.applying.repaired();
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining([
      'rukpak_unpack_duration_seconds_count{source="image",outcome="unpacked"} 1',
      'rukpak_unpack_phase_duration_seconds_sum{source="image",phase="fetch"} 2',
      'rukpak_unpack_bytes_total{source="image"} 1024',
      'rukpak_apply_duration_seconds_sum{operation="install",outcome="success"} 1',
      'rukpak_apply_changes_total{operation="install"} 4',
      'rukpak_apply_requests_total 1',
      'rukpak_drift_repairs_total 1',
    ]),
  );
});

test('what objects are in no more has no sample', async () => {
  const metrics = new Metrics();
  let phases = ['Pending', 'Unpacked'];
  metrics.objects.watch({
    bundles: () => phases.map((phase) => ({ labels: { phase }, count: 1 })),
    conditions: () => [],
    unserved: () => [{ labels: { kind: 'Bundle', class: 'acme' }, count: 2 }],
  });
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining([
      'rukpak_bundles{phase="Pending"} 1',
      'rukpak_unserved_objects{kind="Bundle",class="acme"} 2',
    ]),
  );
  phases = ['Unpacked'];
  const lines = await linesOf(metrics);
  expect(lines.filter((line) => line.startsWith('rukpak_bundles{'))).toEqual([
    'rukpak_bundles{phase="Unpacked"} 1',
  ]);
});

test('the expiry of a certificate is read with each scrape; one that cannot be read has none', async () => {
  const metrics = new Metrics();
  const notAfter = Date.parse('2030-01-01T00:00:00Z');
  const { cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate: new Date(notAfter),
  });
  let pem = cert;
  metrics.certificates.watch('content-server', () => pem);
  metrics.certificates.watch('lost', () => Promise.reject(new Error('no such file')));
  const samples = async () =>
    (await linesOf(metrics)).filter((line) =>
      line.startsWith('rukpak_certificate_expiry_seconds{'),
    );
  expect(await samples()).toEqual([
    `rukpak_certificate_expiry_seconds{certificate="content-server"} ${notAfter / 1000}`,
  ]);
  pem = 'nonsense';
  expect(await samples()).toEqual([]);
});

test('metrics of webhooks have the names of controller-runtime', async () => {
  const exposition = new Exposition();
  const metrics = new WebhookMetrics(exposition.registry);
  metrics.began('/validate');
  metrics.began('/validate');
  metrics.answered('/validate', 200, 0.02);
  expect(await linesOf(exposition)).toEqual(
    expect.arrayContaining([
      'controller_runtime_webhook_requests_total{webhook="/validate",code="200"} 1',
      'controller_runtime_webhook_latency_seconds_count{webhook="/validate"} 1',
      'controller_runtime_webhook_requests_in_flight{webhook="/validate"} 1',
    ]),
  );
});

test('two processes of one test have metrics of their own', async () => {
  const one = new Metrics();
  one.queues.retried('bundle');
  const { body } = await new Metrics().render();
  expect(body).not.toContain('workqueue_retries_total{');
});
