import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

const labels = z.record(z.string(), z.string());
const metadata = z.looseObject({
  name: z.string().optional(),
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
      spec: z.looseObject({
        containers: z.tuple([z.looseObject({ ports: z.array(port) })]),
        volumes: z
          .array(z.looseObject({ secret: z.object({ secretName: z.string() }).loose().optional() }))
          .default([]),
      }),
    }),
  }),
});
const endpoint = z.looseObject({
  port: z.string(),
  tlsConfig: z
    .object({
      serverName: z.string(),
      ca: z.object({ secret: z.looseObject({ name: z.string() }) }),
    })
    .optional(),
});
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

const roleSchema = z.looseObject({
  rules: z.array(
    z.looseObject({
      resources: z.array(z.string()),
      resourceNames: z.array(z.string()).optional(),
    }),
  ),
});

interface Rendered {
  readonly kind: string;
}

const folder = join(import.meta.dirname, '../../deploy');
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const render = (name: string): Promise<string> => kubectl.must(['kustomize', join(folder, name)]);
const objectsOf = (text: string): readonly Rendered[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Rendered);

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

describe.each([
  {
    monitors: 'monitoring',
    overlay: 'overlays/self-signed',
    kinds: ['ClusterRoleBinding', 'ConfigMap', 'PodMonitor', 'PodMonitor', 'PrometheusRule'].concat(
      ['Secret', 'ServiceAccount', 'ServiceMonitor'],
    ),
    jobs: ['crd-validation-webhook', 'rukpak-webhooks'],
  },
  {
    monitors: 'monitoring/split',
    overlay: 'overlays/split',
    kinds: ['PrometheusRule', 'ServiceMonitor'],
    jobs: [],
  },
  {
    monitors: 'monitoring/operators',
    overlay: 'overlays/operators',
    kinds: ['PodMonitor', 'PrometheusRule'],
    jobs: ['rukpak-operators'],
  },
])('$monitors for $overlay', ({ monitors, overlay, kinds, jobs }) => {
  let text: string;
  let monitoring: readonly Rendered[];
  let system: readonly Rendered[];
  beforeAll(async () => {
    text = await render(monitors);
    monitoring = objectsOf(text);
    system = objectsOf(await render(overlay));
  });

  test('all of it is rendered', () => {
    expect(monitoring.map(({ kind }) => kind).toSorted()).toEqual(kinds);
  });

  test('a dashboard is in a ConfigMap for Grafana', () => {
    const maps = all(monitoring, 'ConfigMap', z.looseObject({ metadata }));
    for (const dashboard of maps) expect(dashboard.metadata.labels['grafana_dashboard']).toBe('1');
  });

  test('what serves over TLS is scraped at the port of its Service, with its certificate', () => {
    const services = all(system, 'Service', serviceSchema);
    const pods = all(system, 'Deployment', podsSchema);
    for (const monitor of all(monitoring, 'ServiceMonitor', monitorSchema)) {
      const [wanted] = monitor.spec.endpoints!;
      const { serverName, ca } = wanted.tlsConfig!;
      const found = services.filter((each) => isSelected(monitor, each.metadata));
      expect(found).toMatchObject([
        { metadata: { name: serverName.split('.')[0] }, spec: { ports: [{ name: wanted.port }] } },
      ]);
      const served = pods.find((each) => isSelected(monitor, each.spec.template.metadata))!;
      const secrets = served.spec.template.spec.volumes.map(({ secret }) => secret?.secretName);
      expect(secrets).toContain(ca.secret.name);
    }
  });

  test('pods are scraped at a port of theirs, where they are', () => {
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

  test('alerts know the processes by the labels of their pods', () => {
    const known = all(system, 'Deployment', podsSchema).map(
      ({ spec }) => spec.template.metadata.labels['app'] ?? '',
    );
    const named = new Set([...text.matchAll(/job="([^"]+)"/g)].map(([, job = '']) => job));
    expect([...named].toSorted()).toEqual(jobs);
    for (const job of named) expect(known).toContain(job);
  });
});

test('each lease that a role of the overlays names has its alert', async () => {
  const folders = ['overlays/split', 'overlays/operators'];
  const roles = (await Promise.all(folders.map(render)))
    .flatMap(objectsOf)
    .filter(({ kind }) => kind === 'Role')
    .map((role) => roleSchema.parse(role));
  const leases = roles
    .flatMap(({ rules }) => rules.filter(({ resources }) => resources.includes('leases')))
    .flatMap(({ resourceNames = [] }) => resourceNames);
  const names = ['monitoring', 'monitoring/split', 'monitoring/operators'];
  const alerts = (await Promise.all(names.map(render))).join('');
  const watched = [
    ...alerts.matchAll(/absent\(leader_election_master_status\{name="([^"]+)"\}\)/g),
  ].map(([, lease = '']) => lease);
  // Core's own needs no role: core may do everything.
  expect(watched.toSorted()).toEqual([...new Set([...leases, 'core.rukpak.io'])].toSorted());
});
