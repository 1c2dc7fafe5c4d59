import type { Condition, KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { Cluster } from '../cluster.ts';
import { pollUntil } from '../deployments/awaiting.ts';
import type { UploadFlags } from '../flags.ts';
import type { Progress } from '../output/output.ts';
import {
  type ContentServer,
  kubeconfigCaller,
  openContentServer,
  reachableServer,
} from './content-server.ts';
import { classesOf, fieldManager, type NamedClasses, placeOf } from './earlier-run.ts';
import { packUpload, type Sent, sendUpload } from './send-upload.ts';
import {
  deployed,
  deploymentObject,
  type UploadedDeployment,
  uploadBundle,
  withoutUnfinished,
} from './uploaded-deployment.ts';

export interface RunRequest extends Pick<UploadedDeployment, 'name' | 'config'>, NamedClasses {
  /** Namespace for objects that name none, and of an operator (default: as before). */
  readonly namespace?: string | undefined;
  readonly files: BundleFiles;
  readonly server: UploadFlags;
  /** Milliseconds to wait for the Bundle, and then for a server that accepts it. */
  readonly timeout: number;
  /** Delete a new deployment when its content cannot be uploaded. */
  readonly isRemovedOnFailure: boolean;
  /** Called with the class that will unpack the files, before the deployment is applied. */
  readonly onClass?: (bundleClass: string) => void;
  /** Called after the deployment is applied, with what it keeps of earlier runs. */
  readonly onApplied?: (kept: readonly string[]) => Promise<void>;
}

export interface RunContext {
  readonly cluster: Cluster;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

interface RunResult {
  readonly bundleDeployment: string;
  readonly bundle: string;
  readonly digest: string;
  readonly result: Sent;
}

/** Applies a BundleDeployment, waits for its Bundle, and uploads the content to it. */
export async function runBundle(request: RunRequest, context: RunContext): Promise<RunResult> {
  const { name } = request;
  const { cluster, signal } = context;
  const { archive, digest } = await packUpload(request.files);
  const before = await uploadTarget(name, context);
  const { kept: keptClasses, ...classes } = classesOf(request, before);
  const { kept: keptPlace, ...place } = placeOf({ ...request, ...classes }, before);
  request.onClass?.(classes.bundleClass);
  // Before the deployment is applied: a user who cannot upload must change nothing.
  const contentServer = await contentServerFor(request, context);
  try {
    const applied = (await cluster.client.apply(
      bundleDeploymentResource,
      deploymentObject({ name, ...classes, digest, ...place }),
      { fieldManager, force: true, signal },
    )) as BundleDeployment;
    await request.onApplied?.([...keptClasses, ...keptPlace]);
    const made = before === undefined && request.isRemovedOnFailure ? applied : undefined;
    return await upload({ ...request, applied, digest, archive, contentServer }, context).catch(
      async (error: unknown) => {
        throw made === undefined ? error : await withoutUnfinished(error, made, cluster);
      },
    );
  } finally {
    await contentServer.close();
  }
}

/**
 * The present BundleDeployment of a name; undefined when there is none. An apply would add its
 * source to another one, and nobody asked to replace that.
 * @throws TerminalError with the command that switches the deployment to uploads.
 */
export async function uploadTarget(
  name: string,
  { cluster, signal }: Pick<RunContext, 'cluster' | 'signal'>,
): Promise<BundleDeployment | undefined> {
  const before = await deployed(cluster, name, signal);
  const type = before?.spec.template.spec.source.type ?? 'upload';
  if (type === 'upload') return before;
  const source = { type: 'upload', upload: {}, [type]: null };
  const patch = JSON.stringify({ spec: { template: { spec: { source } } } });
  throw new TerminalError(
    `BundleDeployment "${name}" gets its content from a source of type ${type}: choose another name, ` +
      `or switch this one to uploads first: kubectl patch bundledeployment ${name} --type=merge --patch='${patch}'`,
  );
}

async function contentServerFor(
  { server: flags }: RunRequest,
  { cluster, signal }: RunContext,
): Promise<ContentServer> {
  const caller = await kubeconfigCaller(cluster);
  const server = await reachableServer(cluster, flags);
  const place = { ...server, namespace: server.systemNamespace, service: server.uploadServiceName };
  return await openContentServer(cluster, place, { caller, signal });
}

interface Upload extends RunRequest {
  readonly applied: BundleDeployment;
  readonly digest: string;
  readonly archive: Uint8Array;
  readonly contentServer: ContentServer;
}

async function upload(request: Upload, context: RunContext): Promise<RunResult> {
  const { name, applied, timeout, digest, archive, contentServer } = request;
  const { progress, signal } = context;
  const bundle = await progress(`waiting for the Bundle of "${name}"`, () =>
    awaitBundle(applied, timeout, context),
  );
  const options = { bundle, archive, signal, patience: timeout };
  const result = await progress(`uploading the content of "${bundle}"`, () =>
    sendUpload(contentServer, options),
  );
  return { bundleDeployment: name, bundle, digest, result };
}

async function awaitBundle(
  deployment: BundleDeployment,
  timeout: number,
  { cluster, signal }: RunContext,
): Promise<string> {
  const { name = '' } = deployment.metadata;
  const bundle = await pollUntil(() => uploadBundle(cluster, deployment, signal), {
    isDone: (found) => found !== undefined,
    late: async (_, time) =>
      `BundleDeployment "${name}" has made no Bundle in ${time}: ${await reasonOf(name, cluster)}`,
    timeout,
    signal,
  });
  return bundle ?? '';
}

async function reasonOf(name: string, { client }: Cluster): Promise<string> {
  const live = await client.get(bundleDeploymentResource, { name });
  const condition = conditionsOf(live).find(({ type }) => type === 'HasValidBundle');
  if (condition !== undefined) return `${condition.reason}: ${condition.message}`;
  return `no manager has reconciled it. Is core running, and does it serve the class?`;
}

function conditionsOf(object: KubernetesObject): readonly Condition[] {
  const status = object['status'] as { readonly conditions?: readonly Condition[] } | undefined;
  return status?.conditions ?? [];
}
