import type { KubernetesObject } from '../../api/meta.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';

/** Service `hook` of namespace `app`, which asks for a certificate in that Secret. */
export function certifiedService(secret = 'cert'): KubernetesObject {
  const annotations = { [annotation.servingCertificate]: secret };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'hook', namespace: 'app', annotations },
  };
}

/** Where webhooks behind that Service are. */
export const hookClientConfig = { service: { namespace: 'app', name: 'hook' } };
