import type { KubernetesObject } from '../../../../api/meta.ts';
import { annotation } from '../../../../api/v1alpha1/labels.ts';
import { mapOf, stringAt } from '../../../apply/index.ts';
import { withTrust } from '../trust-holders.ts';
import type { WantedCertificates } from '../wanted-certificates.ts';
import { withAnnotations } from './with-annotations.ts';

const secretAnnotation = 'service.beta.openshift.io/serving-cert-secret-name';
const injectAnnotation = 'service.beta.openshift.io/inject-cabundle';

/** The objects annotated for OpenShift's service CA, which makes Secrets and fills caBundle in. */
export function issuedByServiceCA(
  objects: readonly KubernetesObject[],
  { holders }: WantedCertificates,
): readonly KubernetesObject[] {
  return objects.map((object) => {
    if (holders.has(object)) {
      return withAnnotations(withTrust(object, undefined), { [injectAnnotation]: 'true' });
    }
    const annotations = mapOf(object.metadata.annotations);
    const secret = stringAt(annotations, annotation.servingCertificate);
    return secret === undefined ? object : withAnnotations(object, { [secretAnnotation]: secret });
  });
}
