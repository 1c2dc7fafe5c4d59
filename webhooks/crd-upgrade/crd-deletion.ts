import { z } from 'zod';
import type { KubernetesObject } from '../../api/meta.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import type { ObjectClient } from '../cluster.ts';
import { type AdmissionValidator, allowed, denied, errored } from '../review.ts';
import {
  type CustomResourceDefinition,
  isAnnotated,
  liveCrd,
} from './custom-resource-definition.ts';
import { firstPage, type ObjectLister, type ObjectPage } from './custom-resources.ts';

const namedSchema = z.object({ metadata: z.object({ name: z.string() }) });

/**
 * The validator behind `deletion.crdvalidator.io`: a CRD that a BundleDeployment has made is not
 * deleted while there are custom resources of it, which would be lost with it. The CRD is read from
 * the cluster: whatever a review says of it, no other list is read.
 */
export function crdDeletionValidator(
  client: Pick<ObjectClient, 'get'> & ObjectLister,
): AdmissionValidator {
  return async ({ operation, subResource, oldObject }, signal) => {
    if (operation !== 'DELETE' || subResource) return allowed;
    // A review of a deletion of many has no name but that of the object.
    const old = namedSchema.safeParse(oldObject).data;
    if (old === undefined) return errored(400, 'request.oldObject has no metadata.name');
    const crd = await liveCrd(client, old.metadata.name, signal);
    if (crd === undefined || !isGuarded(crd)) return allowed;
    const page = await firstPage(crd, (resource) => client.list(resource, { limit: 1, signal }));
    const [first] = page.items;
    return first === undefined ? allowed : denied(refusal(crd, first, page));
  };
}

/** One that is being deleted already loses its custom resources anyway. */
function isGuarded(crd: CustomResourceDefinition): boolean {
  const { labels, deletionTimestamp } = crd.metadata;
  if (labels?.[label.ownerKind] !== 'BundleDeployment' || deletionTimestamp) return false;
  return !isAnnotated(crd, annotation.safeCrdDeletion, 'false');
}

function refusal(
  { metadata }: CustomResourceDefinition,
  first: KubernetesObject,
  page: ObjectPage,
): string {
  const count = page.items.length + (page.metadata.remainingItemCount ?? 0);
  const { namespace = '', name } = first.metadata;
  return `refusing to delete CRD "${metadata.name}": ${count} custom resources of it exist, e.g. ${namespace}/${name}; delete them first, or set the annotation "${annotation.safeCrdDeletion}" to "false"`;
}
