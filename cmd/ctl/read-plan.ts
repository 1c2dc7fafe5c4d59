import type { Dispatcher } from 'undici';
import { type FullPlan, parsePlan } from '../../core/bundle-deployment/index.ts';
import { TerminalError } from '../../core/errors.ts';
import { planPath } from '../../core/store/index.ts';
import { kubeconfigCaller } from './caller.ts';
import type { Cluster } from './cluster.ts';
import { openContentServer } from './content-server.ts';
import type { ServerFlags } from './server-flags.ts';

export interface PlanRequest {
  readonly deployment: string;
  readonly server: ServerFlags & { readonly systemNamespace: string; readonly serviceName: string };
  readonly signal: AbortSignal;
}

/** The full plan of a BundleDeployment, as a content server has it; undefined where there is none. */
export async function readPlan(
  cluster: Cluster,
  { deployment, server, signal }: PlanRequest,
): Promise<FullPlan | undefined> {
  const caller = await kubeconfigCaller(cluster);
  const { systemNamespace: namespace, serviceName: service } = server;
  const opened = await openContentServer(
    cluster,
    { ...server, namespace, service },
    { caller, signal },
  );
  try {
    const path = planPath(deployment);
    return await planOf(await opened.request({ method: 'GET', path, signal }));
  } finally {
    await opened.close();
  }
}

async function planOf({
  statusCode,
  body,
}: Dispatcher.ResponseData): Promise<FullPlan | undefined> {
  const text = await body.text();
  if (statusCode === 200) return parsePlan(text);
  if (statusCode === 404) return undefined;
  throw new TerminalError(
    `the content server answered with HTTP status ${statusCode}: ${text.trim().slice(0, 1000)}`,
  );
}
