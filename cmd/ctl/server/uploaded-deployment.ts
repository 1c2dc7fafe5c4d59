import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import { annotation, finalizer, label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { isMadeFrom, isOwn } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { errorMessage } from '../../../core/errors.ts';
import { isConflict, liveObject, unlessNotFound } from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';

/** A BundleDeployment with uploaded content. */
export interface UploadedDeployment {
  readonly name: string;
  readonly deploymentClass: string;
  readonly bundleClass: string;
  /** Digest of the content: other content is another template, hence another Bundle. */
  readonly digest: string;
  /** spec.config as written. */
  readonly config?: JsonObject;
  /** Namespace for objects that name none (default: core's own). */
  readonly installNamespace?: string;
}

/** The object to apply. */
export function deploymentObject({
  name,
  deploymentClass,
  bundleClass,
  digest,
  config,
  installNamespace,
}: UploadedDeployment): KubernetesObject {
  const { group, version, kind } = bundleDeploymentResource;
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name },
    spec: {
      provisionerClassName: deploymentClass,
      template: {
        metadata: { labels: { app: name, bundleDigest: digest } },
        spec: { provisionerClassName: bundleClass, source: { type: 'upload', upload: {} } },
      },
      ...(config === undefined ? {} : { config }),
      ...(installNamespace === undefined ? {} : { installNamespace }),
    },
  };
}

/**
 * The Bundle that core made for the applied deployment's template; undefined before it exists.
 * Labels alone are no proof: everybody who may create Bundles can write them, and would get the
 * content instead.
 */
export async function uploadBundle(
  { client }: Pick<Cluster, 'client'>,
  deployment: BundleDeployment,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { metadata, spec } = deployment;
  const hash = templateHash(spec.template);
  const fieldSelector = `metadata.name=${bundleName(metadata.name ?? '', hash)}`;
  const { items } = await client.list(bundleResource, { fieldSelector, signal });
  const made = (items as readonly Bundle[]).find(
    (bundle) => isMadeFrom(bundle, deployment, hash) && isOwn(bundle, deployment),
  );
  return made?.metadata.deletionTimestamp === undefined ? made?.metadata.name : undefined;
}

/** Milliseconds for the cleanup of an interrupted command. */
const patience = 10_000;

/** The BundleDeployment of this name; undefined when there is none. */
export async function deployed(
  { client }: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<BundleDeployment | undefined> {
  // A list, because it fails only without the kind, and is empty without the deployment.
  const fieldSelector = `metadata.name=${name}`;
  const { items } = await client.list(bundleDeploymentResource, { fieldSelector, signal });
  return items.find(({ metadata }) => metadata.name === name) as BundleDeployment | undefined;
}

/**
 * Deletes a BundleDeployment without its content, unless somebody changed it since it was `made`,
 * or core may install it: core may have adopted objects and a Bundle of an earlier deployment.
 * Returns the message for the failure, with the result of the deletion.
 */
export async function withoutUnfinished(
  error: unknown,
  made: KubernetesObject,
  cluster: Cluster,
): Promise<Error> {
  const { name = '' } = made.metadata;
  const end = (outcome: string) => new Error(`${errorMessage(error)}${outcome}`, { cause: error });
  try {
    return end(await removal(name, made, cluster));
  } catch (failure) {
    return end(
      `; BundleDeployment "${name}", which is new, could not be deleted (${errorMessage(failure)}): rukpakctl status ${name} says what it has installed`,
    );
  }
}

async function removal(name: string, made: KubernetesObject, { client }: Cluster): Promise<string> {
  const { uid = '' } = made.metadata;
  const signal = AbortSignal.timeout(patience);
  const target = { resource: bundleDeploymentResource, key: { name } };
  for (;;) {
    const live = await liveObject(client, target, signal);
    if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return '';
    const reason = await reasonToKeep(live as BundleDeployment, { made, client, signal });
    if (reason !== undefined) return `; BundleDeployment "${name}" was kept, because ${reason}`;
    // Core writes its finalizer before it applies anything, and that makes another version.
    const { resourceVersion = '' } = live.metadata;
    const options = { uid, resourceVersion, signal };
    try {
      await unlessNotFound(client.delete(bundleDeploymentResource, { name }, options));
      return `; BundleDeployment "${name}", which was new, is deleted again`;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

interface Removal extends Pick<Cluster, 'client' | 'signal'> {
  readonly made: KubernetesObject;
}

async function reasonToKeep(
  live: BundleDeployment,
  { made, client, signal }: Removal,
): Promise<string | undefined> {
  const { name = '', generation } = live.metadata;
  if (generation !== made.metadata.generation) return 'another client changed it meanwhile';
  const advice = `rukpakctl status ${name}`;
  if (isBegun(live)) return `core has begun to install it: ${advice}`;
  const labelSelector = `${label.ownerKind}=${bundleDeploymentResource.kind},${label.ownerName}=${name}`;
  const { items } = await client.list(bundleResource, { labelSelector, signal });
  const bundle = (items as readonly Bundle[]).find(hasContent);
  return bundle && `its Bundle "${bundle.metadata.name}" has content: ${advice}`;
}

function hasContent({ metadata, status }: Bundle): boolean {
  const isUploaded = metadata.annotations?.[annotation.uploadDigest] !== undefined;
  return isUploaded || status?.phase === 'Unpacked';
}

function isBegun({ metadata, status = {} }: BundleDeployment): boolean {
  const { installed } = bundleDeploymentCondition;
  if (metadata.finalizers?.includes(finalizer.deleteObjects)) return true;
  if (status.activeBundle !== undefined) return true;
  return status.conditions?.some(({ type }) => type === installed) === true;
}
