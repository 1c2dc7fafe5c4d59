import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

const labels = z.record(z.string(), z.string());
const metadata = z.looseObject({
  namespace: z.string().optional(),
  labels: labels.default({}),
});
const port = z.looseObject({ name: z.string() });
const serviceSchema = z.looseObject({ metadata, spec: z.looseObject({ ports: z.array(port) }) });
const podsSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    template: z.looseObject({
      metadata,
      spec: z.looseObject({ containers: z.tuple([z.looseObject({ ports: z.array(port) })]) }),
    }),
  }),
});
const endpoint = z.looseObject({ port: z.string() });
const selector = z.object({ matchLabels: labels });
const monitorSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    selector,
    jobLabel: z.literal('app'),
    namespaceSelector: z.object({ matchNames: z.tuple([z.string()]) }).optional(),
    endpoints: z.tuple([endpoint]).optional(),
    podMetricsEndpoints: z.tuple([endpoint]).optional(),
  }),
});

interface Rendered {
  readonly kind: string;
}

const folder = join(import.meta.dirname, '../../deploy');
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
let monitoring: readonly Rendered[];
let system: readonly Rendered[];

beforeAll(async () => {
  monitoring = await render('monitoring');
  system = await render('overlays/self-signed');
});

async function render(name: string): Promise<readonly Rendered[]> {
  const text = await kubectl.must(['kustomize', join(folder, name)]);
  return parseAllDocuments(text).map((document) => document.toJS() as Rendered);
}

function all<T>(objects: readonly Rendered[], wanted: string, schema: z.ZodType<T>): T[] {
  return objects.filter(({ kind }) => kind === wanted).map((object) => schema.parse(object));
}

function isSelected(
  { spec }: z.infer<typeof monitorSchema>,
  found: z.infer<typeof metadata>,
): boolean {
  const wanted = Object.entries(spec.selector.matchLabels);
  return wanted.every(([name, value]) => found.labels[name] === value);
}

test('all of it is rendered, the dashboard in a ConfigMap for Grafana', () => {
  expect(monitoring.map(({ kind }) => kind).toSorted()).toEqual([
    'ClusterRoleBinding',
    'ConfigMap',
    'PodMonitor',
    'PodMonitor',
    'PrometheusRule',
    'Secret',
    'ServiceAccount',
    'ServiceMonitor',
  ]);
  const [dashboard] = all(monitoring, 'ConfigMap', z.looseObject({ metadata }));
  expect(dashboard?.metadata.labels['grafana_dashboard']).toBe('1');
});

test('core is scraped at the port of its Service', () => {
  const [monitor] = all(monitoring, 'ServiceMonitor', monitorSchema);
  const services = all(system, 'Service', serviceSchema);
  const found = services.filter((service) => monitor && isSelected(monitor, service.metadata));
  expect(found.map(({ spec }) => spec.ports[0]?.name)).toEqual([monitor?.spec.endpoints?.[0].port]);
});

test('the webhooks are scraped at the ports of their pods, where these are', () => {
  const deployments = all(system, 'Deployment', podsSchema);
  for (const monitor of all(monitoring, 'PodMonitor', monitorSchema)) {
    const [found, ...others] = deployments.filter(({ spec }) =>
      isSelected(monitor, spec.template.metadata),
    );
    expect(others).toEqual([]);
    const ports = found?.spec.template.spec.containers[0].ports.map(({ name }) => name);
    expect(ports).toContain(monitor.spec.podMetricsEndpoints?.[0].port);
    const [namespace = monitor.metadata.namespace] =
      monitor.spec.namespaceSelector?.matchNames ?? [];
    expect(namespace).toBe(found?.metadata.namespace);
  }
});

test('alerts know the processes by the labels of their pods', async () => {
  const text = await kubectl.must(['kustomize', join(folder, 'monitoring')]);
  const jobs = all(system, 'Deployment', podsSchema).map(
    ({ spec }) => spec.template.metadata.labels['app'] ?? '',
  );
  const known = new Set([...text.matchAll(/job="([^"]+)"/g)].map(([, job = '']) => job));
  expect(known.size).toBe(2);
  for (const job of known) expect(jobs).toContain(job);
});
