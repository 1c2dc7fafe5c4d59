import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { z } from 'zod';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ConfigMapSource } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { defaultLimits } from '../../../core/content/index.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { parseManifests } from '../../../core/manifests/index.ts';
import {
  configMapResource,
  type KubeClient,
  liveObject,
} from '../../../core/platform/kube/index.ts';
import { loadDirectory } from '../content/load-content.ts';
import { pollUntil } from '../deployments/awaiting.ts';
import { fieldManager, isAppliedByCtl } from '../server/earlier-run.ts';
import { deploymentState, isGood } from '../status/deployment-state.ts';

/** The objects of a sample, in the order in which they are applied. */
export interface Sample {
  /** The content; immutable, so that other content has another name. */
  readonly configMaps: readonly KubernetesObject[];
  readonly deployment: KubernetesObject;
}

/** The fields of a BundleDeployment that are read or replaced here. */
const deploymentSchema = z.looseObject({
  apiVersion: z.literal('core.rukpak.io/v1alpha1'),
  kind: z.literal('BundleDeployment'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ template: z.looseObject({ spec: z.looseObject({}) }) }),
});

type Deployment = z.infer<typeof deploymentSchema>;

/**
 * Reads a folder's `bundledeployment.yaml`, with the files of `content/` as its source.
 * @throws TerminalError that names the invalid one of the two.
 */
export function readSample(folder: string, namespace: string): Sample {
  const deployment = readDeployment(join(folder, 'bundledeployment.yaml'));
  const files = loadDirectory(join(folder, 'content'), defaultLimits);
  const prefix = `${deployment.metadata.name}-${digestOf(files)}`;
  const folders = [...Map.groupBy(files.files, ([path]) => posix.dirname(path))];
  const configMaps = folders.map(([, entries], index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${prefix}-${index}`, namespace },
    immutable: true,
    binaryData: Object.fromEntries(
      entries.map(([path, bytes]) => [posix.basename(path), Buffer.from(bytes).toString('base64')]),
    ),
  }));
  const sources = folders.map(([path], index) => ({
    configMap: { name: `${prefix}-${index}` },
    ...(path === '.' ? {} : { path }),
  }));
  return { configMaps, deployment: withSource(deployment, sources) };
}

function readDeployment(file: string): Deployment {
  const [object, ...others] = parseManifests(file, contentOf(file));
  const deployment = deploymentSchema.safeParse(object).data;
  if (deployment !== undefined && others.length === 0) return deployment;
  throw new TerminalError(
    `${file} must hold one BundleDeployment of core.rukpak.io/v1alpha1, with a name and a template`,
  );
}

function contentOf(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new TerminalError(`cannot read the sample: ${errorMessage(error)}`, { cause: error });
  }
}

function withSource(
  deployment: Deployment,
  configMaps: readonly ConfigMapSource[],
): KubernetesObject {
  const { template } = deployment.spec;
  const spec = { ...template.spec, source: { type: 'configMaps', configMaps } };
  return { ...deployment, spec: { ...deployment.spec, template: { ...template, spec } } };
}

/** Short, because it becomes part of a name. */
function digestOf({ files }: BundleFiles): string {
  const hash = createHash('sha256');
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest('hex').slice(0, 10);
}

interface DeployOptions {
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Applies the sample, and waits until it is installed and healthy.
 * @throws TerminalError that says what it waits for, after the timeout; before any change when the
 * cluster has another BundleDeployment of the name.
 */
export async function deploySample(
  client: Pick<KubeClient, 'apply' | 'get'>,
  { configMaps, deployment }: Sample,
  { timeout, signal }: DeployOptions,
): Promise<void> {
  await checkOwn(client, deployment, signal);
  const options = { fieldManager, force: true, signal };
  for (const object of configMaps) await client.apply(configMapResource, object, options);
  const applied = await client.apply(bundleDeploymentResource, deployment, options);
  const name = applied.metadata.name ?? '';
  await pollUntil(() => client.get(bundleDeploymentResource, { name }, signal), {
    isDone: (live) => isGood(live as BundleDeployment),
    late: (live, time) => {
      const { state, reason } = deploymentState(live as BundleDeployment);
      return `"${name}" is not installed and healthy after ${time}: ${state} ${reason}`;
    },
    timeout,
    signal,
  });
}

/** An apply would add the source of the sample to that of somebody's deployment. */
async function checkOwn(
  client: Pick<KubeClient, 'get'>,
  { metadata: { name = '' } }: KubernetesObject,
  signal: AbortSignal,
): Promise<void> {
  const target = { resource: bundleDeploymentResource, key: { name } };
  const live = (await liveObject(client, target, signal)) as BundleDeployment | undefined;
  if (live === undefined) return;
  const { type } = live.spec.template.spec.source;
  if (type === 'configMaps' && isAppliedByCtl(live)) return;
  throw new TerminalError(
    `nothing is applied: BundleDeployment "${name}" exists, and no sample made it (its source is of type ${type}): choose another name in bundledeployment.yaml`,
  );
}
