import type { KubernetesObject } from '../../api/meta.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import { type AdmissionValidator, allowed, denied, errored } from '../review.ts';
import {
  type CustomResourceDefinition,
  isAnnotated,
  parseCrd,
} from './custom-resource-definition.ts';
import { firstPage, type ObjectLister, type ObjectPage } from './custom-resources.ts';

/**
 * The validator behind `deletion.crdvalidator.io`: a CRD that a BundleDeployment has made is not
 * deleted while there are custom resources of it, which would be lost with it.
 */
export function crdDeletionValidator(lister: ObjectLister): AdmissionValidator {
  return async ({ operation, subResource, name = '', oldObject }, signal) => {
    if (operation !== 'DELETE' || subResource) return allowed;
    const crd = decode(oldObject);
    if (crd instanceof Error) {
      return errored(400, `failed to decode CRD "${name}": ${crd.message}`);
    }
    if (!isGuarded(crd)) return allowed;
    const page = await firstPage(crd, (resource) => lister.list(resource, { limit: 1, signal }));
    const [first] = page.items;
    return first === undefined ? allowed : denied(refusal(crd, first, page));
  };
}

function decode(object: unknown): CustomResourceDefinition | Error {
  try {
    return parseCrd(object);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
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
