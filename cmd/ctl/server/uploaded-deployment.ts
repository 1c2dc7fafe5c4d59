import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../../core/errors.ts';
import { isNotFound, liveObject } from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';

/** A BundleDeployment whose content is uploaded. */
export interface UploadedDeployment {
  readonly name: string;
  readonly deploymentClass: string;
  readonly bundleClass: string;
  /** Of the content: other content is another template, hence another Bundle. */
  readonly digest: string;
  /** spec.config as written. */
  readonly config?: JsonObject;
  /** Where what names no namespace is installed (default: core's own). */
  readonly installNamespace?: string;
}

/** What is applied. */
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

/** Selects the Bundles that the deployment makes of this content. */
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

/** Whether a selected Bundle is of this template: the content alone may have been in another one. */
export function isOfTemplate(bundle: KubernetesObject, deployment: UploadedDeployment): boolean {
  const spec = bundle['spec'] as { readonly provisionerClassName?: unknown } | undefined;
  if (bundle.metadata.deletionTimestamp !== undefined) return false;
  return (
    bundle.kind === bundleResource.kind && spec?.provisionerClassName === deployment.bundleClass
  );
}

/** An interrupted command removes what it made too; milliseconds. */
const patience = 10_000;

/** The BundleDeployment of this name; undefined where there is none. */
export async function deployed(
  { client }: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<BundleDeployment | undefined> {
  // A list, since a cluster without the kind is an error, and no deployment in it none.
  const fieldSelector = `metadata.name=${name}`;
  const { items } = await client.list(bundleDeploymentResource, { fieldSelector, signal });
  return items.find(({ metadata }) => metadata.name === name) as BundleDeployment | undefined;
}

/**
 * Deletes a BundleDeployment whose content has not come, unless somebody has changed it since it was
 * `made`. What is to be said of the failure, with what became of it.
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
    return `; BundleDeployment "${name}" stays, since somebody has changed it meanwhile`;
  }
  try {
    await client.delete(bundleDeploymentResource, { name }, { uid, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return `; BundleDeployment "${name}", which was new, is deleted again`;
}
