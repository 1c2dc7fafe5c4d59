const core = { group: '', version: 'v1' };

import type { Resource } from '../../../core/platform/kube/index.ts';
export const namespaceResource: Resource = {
  ...core,
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

export const serviceResource: Resource = {
  ...core,
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};

export const deploymentResource: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

/** Webhook configurations by their kind. */
export const webhookConfigurations: ReadonlyMap<string, Resource> = new Map(
  ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => [
    kind,
    {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      kind,
      plural: `${kind.toLowerCase()}s`,
      namespaced: false,
    },
  ]),
);
