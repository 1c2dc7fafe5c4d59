const core = { group: '', version: 'v1', namespaced: true } as const;

import { configMapResource, type Resource } from '../../../core/platform/kube/index.ts';
export const deploymentResource: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

/** Kinds of an app's objects: one object of each. */
export const appResources: readonly Resource[] = [
  deploymentResource,
  { ...core, kind: 'ServiceAccount', plural: 'serviceaccounts' },
  { ...core, kind: 'Service', plural: 'services' },
  configMapResource,
];
