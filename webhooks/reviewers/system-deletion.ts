import { z } from 'zod';
import { catalogResource } from '../../api/catalogd/v1alpha1/resources.ts';
import { clusterCatalogResource, clusterExtensionResource } from '../../api/olm/v1/resources.ts';
import { operatorResource } from '../../api/operators/v1alpha1/resources.ts';
import { record } from '../../api/record.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { isNotFound, type Resource } from '../../core/platform/kube/index.ts';
import type { ObjectPage } from '../crd-upgrade/custom-resources.ts';
import { type AdmissionValidator, allowed, denied, errored } from '../review.ts';

export interface SystemDeletionOptions {
  readonly systemNamespace: string;
  readonly client: {
    list(
      resource: Resource,
      options: {
        readonly limit: number;
        readonly metadataOnly: true;
        readonly signal: AbortSignal;
      },
    ): Promise<ObjectPage>;
  };
}

const objectSchema = z.object({
  kind: z.string(),
  metadata: z.object({
    name: z.string(),
    deletionTimestamp: z.string().optional(),
    labels: record(z.string()).optional(),
  }),
});

type Deleted = z.infer<typeof objectSchema>;

/** The kinds of OLM 1.0, by the names of their CRDs: each is only of its own objects. */
const operatorKinds = byDefinition([
  operatorResource,
  clusterExtensionResource,
  catalogResource,
  clusterCatalogResource,
]);

const coreKinds: readonly Resource[] = [bundleDeploymentResource, bundleResource];
const coreDefinitions = byDefinition(coreKinds);

function byDefinition(resources: readonly Resource[]): ReadonlyMap<string, Resource> {
  return new Map(resources.map((resource) => [`${resource.plural}.${resource.group}`, resource]));
}

/**
 * The kinds whose objects, or uploads, a deletion would delete. The configuration selects the
 * namespaces.
 */
function kindsOf({ kind, metadata: { name, labels } }: Deleted): readonly Resource[] {
  if (kind === 'Namespace') return coreKinds;
  if (kind !== 'CustomResourceDefinition') return [];
  if (coreDefinitions.has(name)) return coreKinds;
  const ofOperators = operatorKinds.get(name);
  // Another project may have installed it.
  const isOurs = labels?.['app.kubernetes.io/part-of'] === 'rukpak';
  return ofOperators !== undefined && isOurs ? [ofOperators] : [];
}

/**
 * The validator behind `vdeletions.core.rukpak.io`: refuses the deletion of the system namespace,
 * that of uploads, and the CRDs of Bundles and BundleDeployments while there are objects of these
 * kinds, and of each CRD of OLM 1.0 while there are objects of its kind.
 */
export function systemDeletionValidator({
  client,
  systemNamespace,
}: SystemDeletionOptions): AdmissionValidator {
  async function count(resource: Resource, signal: AbortSignal): Promise<number> {
    try {
      const page = await client.list(resource, { limit: 1, metadataOnly: true, signal });
      return page.items.length + (page.metadata.remainingItemCount ?? 0);
    } catch (error) {
      if (isNotFound(error)) return 0;
      throw error;
    }
  }
  return async ({ operation, subResource, oldObject }, signal) => {
    if (operation !== 'DELETE' || subResource) return allowed;
    const object = objectSchema.safeParse(oldObject);
    if (!object.success) return errored(400, 'failed to decode request.oldObject');
    const { kind, metadata } = object.data;
    const loss = lossOf(object.data, systemNamespace);
    if (metadata.deletionTimestamp !== undefined) return allowed;
    const resources = kindsOf(object.data);
    for (const resource of resources) {
      const found = await count(resource, signal);
      if (found > 0) return denied(refusal(`${kind} "${metadata.name}"`, counted(found, resource)));
    }
    return allowed;
    function refusal(subject: string, there: string): string {
      const all = resources === coreKinds ? 'bundledeployments,bundles' : metadata.name;
      return `refusing to delete ${subject}: ${there}, and ${loss}. To remove RukPak and keep everything, run "rukpak uninstall"; to delete everything, first run "kubectl delete ${all} --all". If "kubectl delete -f" has gone on and deleted RukPak's webhooks, nothing refuses the next deletion: apply RukPak's manifests again first`;
    }
  };
}

/** Everything else that the deletion would delete. */
function lossOf({ kind, metadata }: Deleted, systemNamespace: string): string {
  if (kind !== 'Namespace') return 'the API server would delete them too';
  return metadata.name === systemNamespace
    ? 'it holds Secret "rukpak-seed" and the uploads of their content'
    : 'it holds the uploads of their content';
}

function counted(count: number, { kind }: Resource): string {
  return count === 1 ? `1 ${kind} exists` : `${count} ${kind}s exist`;
}
