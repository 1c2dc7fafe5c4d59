const core = { group: '', version: 'v1', namespaced: true } as const;

import {
  configMapResource,
  deploymentResource,
  type Resource,
} from '../../../core/platform/kube/index.ts';
/** Kinds of an app's objects: one object of each. */
export const appResources: readonly Resource[] = [
  deploymentResource,
  { ...core, kind: 'ServiceAccount', plural: 'serviceaccounts' },
  { ...core, kind: 'Service', plural: 'services' },
  configMapResource,
];
