import { z } from 'zod';
import { record } from '../../api/record.ts';
import { TerminalError } from '../../core/errors.ts';
import { queryString } from '../../core/platform/kube/index.ts';
import type { Cluster } from './cluster.ts';

export interface ServicePort {
  readonly namespace: string;
  readonly service: string;
  /** Name of the Service's port. */
  readonly port: string;
}

export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

const intOrName = z.union([z.int(), z.string()]);

const serviceSchema = z.object({
  spec: z.object({
    selector: record(z.string()).default({}),
    ports: z
      .array(
        z.object({ name: z.string().default(''), port: z.int(), targetPort: intOrName.optional() }),
      )
      .default([]),
  }),
});

const podSchema = z.object({
  metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
  spec: z.object({
    containers: z.array(
      z.object({
        ports: z
          .array(z.object({ name: z.string().default(''), containerPort: z.int() }))
          .default([]),
      }),
    ),
  }),
  status: z
    .object({
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
    })
    .default({ conditions: [] }),
});

type Pod = z.infer<typeof podSchema>;

/**
 * A ready pod behind a Service, and the port there that the Service's port stands for.
 * @throws TerminalError where the port is not the Service's, Error where no pod is ready; ApiError.
 */
export async function podOfService(
  { client }: Pick<Cluster, 'client'>,
  { namespace, service, port }: ServicePort,
  signal: AbortSignal,
): Promise<PodPort> {
  const core = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const path = `${core}/services/${encodeURIComponent(service)}`;
  const { spec } = serviceSchema.parse(await client.request({ method: 'GET', path, signal }));
  const place = `Service "${service}" in namespace "${namespace}"`;
  const wanted = spec.ports.find(({ name }) => name === port);
  if (wanted === undefined) throw new TerminalError(`${place} has no port named "${port}"`);
  const selector = Object.entries(spec.selector).map(([key, value]) => `${key}=${value}`);
  if (selector.length === 0) {
    throw new TerminalError(`${place} selects no pods: use --server with a URL that is reachable`);
  }
  const query = queryString({ labelSelector: selector.join(',') });
  const list = await client.request({ method: 'GET', path: `${core}/pods${query}`, signal });
  const pod = z
    .object({ items: z.array(podSchema) })
    .parse(list)
    .items.find(isReady);
  if (pod === undefined) {
    throw new Error(
      `no pod of ${place} is ready: see kubectl get pods --namespace ${namespace} --selector ${selector.join(',')}`,
    );
  }
  const target = containerPort(pod, wanted.targetPort ?? wanted.port);
  if (target === undefined) {
    throw new TerminalError(
      `pod "${pod.metadata.name}" has no port named "${wanted.targetPort}", which ${place} wants`,
    );
  }
  return { namespace, pod: pod.metadata.name, port: target };
}

function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function containerPort({ spec }: Pod, target: number | string): number | undefined {
  if (typeof target === 'number') return target;
  const ports = spec.containers.flatMap(({ ports }) => ports);
  return ports.find(({ name }) => name === target)?.containerPort;
}
