import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('metrics have the names and labels of controller-runtime', async () => {
  const metrics = new Metrics();
  metrics.reconcileTotal('bundle', 'success');
  metrics.reconcileTotal('bundle', 'error');
  metrics.reconcileTotal('bundle', 'requeue_after');
  metrics.reconcileTime('bundle', 0.2);
  metrics.activeWorkers('bundle', 3);
  metrics.queueDepth('bundle', 7);
  metrics.queueDuration('bundle', 0.5);
  metrics.retriesTotal('bundle');
  const { contentType, body } = await metrics.render();
  expect(contentType).toMatch(/^text\/plain/);
  const lines = body.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'controller_runtime_reconcile_total{controller="bundle",result="success"} 1',
      'controller_runtime_reconcile_total{controller="bundle",result="error"} 1',
      'controller_runtime_reconcile_total{controller="bundle",result="requeue_after"} 1',
      'controller_runtime_reconcile_errors_total{controller="bundle"} 1',
      'controller_runtime_reconcile_time_seconds_bucket{le="0.1",controller="bundle"} 0',
      'controller_runtime_reconcile_time_seconds_bucket{le="0.25",controller="bundle"} 1',
      'controller_runtime_active_workers{controller="bundle"} 3',
      'workqueue_depth{name="bundle",controller="bundle"} 7',
      'workqueue_queue_duration_seconds_count{name="bundle",controller="bundle"} 1',
      'workqueue_retries_total{name="bundle",controller="bundle"} 1',
    ]),
  );
  expect(body).toMatch(/^process_cpu_seconds_total \d/m);
  expect(body).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
});

test('two processes of one test have metrics of their own', async () => {
  const one = new Metrics();
  one.retriesTotal('bundle');
  const { body } = await new Metrics().render();
  expect(body).not.toContain('workqueue_retries_total{');
});
