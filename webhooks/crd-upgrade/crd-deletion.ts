import type { KubernetesObject } from '../../api/meta.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import { hasCode } from '../cluster.ts';
import { type AdmissionValidator, allowed, denied, errored } from '../review.ts';
import {
  type CustomResourceDefinition,
  isAnnotated,
  parseCrd,
  resourceOf,
} from './custom-resource-definition.ts';
import type { ObjectLister, ObjectPage } from './custom-resources.ts';

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
    const page = await anyOf(crd, lister, signal);
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

/** All custom resources are there in every version that is served. */
async function anyOf(
  crd: CustomResourceDefinition,
  lister: ObjectLister,
  signal: AbortSignal,
): Promise<ObjectPage> {
  const none: ObjectPage = { metadata: {}, items: [] };
  const served = crd.spec.versions.find((version) => version.served);
  if (served === undefined) return none;
  try {
    return await lister.list(resourceOf(crd, served.name), { limit: 1, signal });
  } catch (error) {
    if (hasCode(error, 404)) return none;
    throw error;
  }
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
