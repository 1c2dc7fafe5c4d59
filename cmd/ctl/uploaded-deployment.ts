import type { JsonObject } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';

/** A BundleDeployment whose content is uploaded. */
export interface UploadedDeployment {
  readonly name: string;
  readonly deploymentClass: string;
  readonly bundleClass: string;
  /** Of the content: other content is another template, hence another Bundle. */
  readonly digest: string;
  /** spec.config as written. */
  readonly config?: JsonObject;
  /** Where what names no namespace is installed; core's own where absent. */
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
