import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../../core/errors.ts';
import { isNotFound, liveObject } from '../../../core/platform/kube/index.ts';
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

/** Selects the Bundles of the deployment with this content. */
export function bundleSelector({ name, digest }: UploadedDeployment): string {
  const labels = {
    app: name,
    bundleDigest: digest,
    [label.ownerKind]: bundleDeploymentResource.kind,
    [label.ownerName]: name,
  };
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/**
 * Whether a selected Bundle was made from this template: another template may have had the same
 * content.
 */
export function isOfTemplate(bundle: KubernetesObject, deployment: UploadedDeployment): boolean {
  const spec = bundle['spec'] as { readonly provisionerClassName?: unknown } | undefined;
  if (bundle.metadata.deletionTimestamp !== undefined) return false;
  return (
    bundle.kind === bundleResource.kind && spec?.provisionerClassName === deployment.bundleClass
  );
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
 * Deletes a BundleDeployment without its content, unless somebody changed it since it was `made`.
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
    return end(await removal(made, cluster));
  } catch (failure) {
    return end(
      `; BundleDeployment "${name}", which is new, could not be deleted (${errorMessage(failure)}): kubectl delete bundledeployment ${name}`,
    );
  }
}

async function removal({ metadata }: KubernetesObject, { client }: Cluster): Promise<string> {
  const { name = '', uid = '', generation } = metadata;
  const signal = AbortSignal.timeout(patience);
  const target = { resource: bundleDeploymentResource, key: { name } };
  const live = await liveObject(client, target, signal);
  if (live?.metadata.uid !== uid) return '';
  if (live.metadata.generation !== generation) {
    return `; BundleDeployment "${name}" was kept, because somebody changed it meanwhile`;
  }
  try {
    await client.delete(bundleDeploymentResource, { name }, { uid, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return `; BundleDeployment "${name}", which was new, is deleted again`;
}
