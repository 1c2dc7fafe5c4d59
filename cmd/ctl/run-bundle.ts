import { setTimeout as delay } from 'node:timers/promises';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import { TerminalError } from '../../core/errors.ts';
import { packUpload } from './bundle-upload.ts';
import { kubeconfigCaller } from './caller.ts';
import type { Cluster } from './cluster.ts';
import { openContentServer } from './content-server.ts';
import type { Progress } from './progress.ts';
import { type Sent, sendUpload } from './send-upload.ts';
import type { UploadFlags } from './server-flags.ts';
import {
  bundleSelector,
  deploymentObject,
  isOfTemplate,
  type UploadedDeployment,
} from './uploaded-deployment.ts';

export interface RunRequest extends Omit<UploadedDeployment, 'digest'> {
  readonly files: BundleFiles;
  readonly server: UploadFlags;
  /** How long the Bundle, and then a server that takes it, are waited for; milliseconds. */
  readonly timeout: number;
  /** Called when the deployment is as asked for. */
  readonly onApplied?: () => Promise<void>;
}

export interface RunContext {
  readonly cluster: Cluster;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface RunResult {
  readonly bundleDeployment: string;
  readonly bundle: string;
  readonly digest: string;
  readonly result: Sent;
}

const pollInterval = 300;

/** Applies a BundleDeployment, waits for its Bundle, and uploads the content to it (spec section 13). */
export async function runBundle(request: RunRequest, context: RunContext): Promise<RunResult> {
  const { name, server, timeout } = request;
  const { cluster, progress, signal } = context;
  // First of all: without credentials nothing is to be changed.
  const caller = await kubeconfigCaller(cluster);
  const { archive, digest } = await packUpload(request.files);
  const deployment = { ...request, digest };
  await cluster.client.apply(bundleDeploymentResource, deploymentObject(deployment), {
    fieldManager: 'rukpakctl',
    force: true,
    signal,
  });
  await request.onApplied?.();
  const bundle = await progress(`waiting for the Bundle of "${name}"`, () =>
    awaitBundle(deployment, timeout, context),
  );
  const place = { ...server, namespace: server.systemNamespace, service: server.uploadServiceName };
  const contentServer = await openContentServer(cluster, place, { caller, signal });
  try {
    const options = { bundle, archive, signal, patience: timeout };
    const result = await progress(`uploading the content of "${bundle}"`, () =>
      sendUpload(contentServer, options),
    );
    return { bundleDeployment: name, bundle, digest, result };
  } finally {
    await contentServer.close();
  }
}

async function awaitBundle(
  deployment: UploadedDeployment,
  timeout: number,
  { cluster, signal }: RunContext,
): Promise<string> {
  const labelSelector = bundleSelector(deployment);
  const deadline = Date.now() + timeout;
  for (;;) {
    const { items } = await cluster.client.list(bundleResource, { labelSelector, signal });
    const bundle = items.find((item) => isOfTemplate(item, deployment))?.metadata.name;
    if (bundle !== undefined) return bundle;
    if (Date.now() >= deadline) {
      throw new TerminalError(
        `BundleDeployment "${deployment.name}" has made no Bundle in ${timeout / 1000} s: ${await reasonOf(deployment.name, cluster)}`,
      );
    }
    await delay(pollInterval, undefined, { signal });
  }
}

async function reasonOf(name: string, { client }: Cluster): Promise<string> {
  const live = await client.get(bundleDeploymentResource, { name });
  const condition = conditionsOf(live).find(({ type }) => type === 'HasValidBundle');
  if (condition !== undefined) return `${condition.reason}: ${condition.message}`;
  return `nobody has looked at it; is the core running, and is its class right? rukpakctl status ${name} says more`;
}

function conditionsOf(object: KubernetesObject): readonly Condition[] {
  const status = object['status'] as { readonly conditions?: readonly Condition[] } | undefined;
  return status?.conditions ?? [];
}
