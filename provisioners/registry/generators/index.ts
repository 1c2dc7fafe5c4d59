import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { apiServiceBindings } from './api-service-bindings.ts';
import { apiServices } from './api-services.ts';
import { clusterRoleBindings } from './cluster-role-bindings.ts';
import { clusterRoles } from './cluster-roles.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import { deployments } from './deployments.ts';
import { mutatingWebhooks } from './mutating-webhooks.ts';
import { namespace } from './namespace.ts';
import { otherObjects } from './other-objects.ts';
import { roleBindings } from './role-bindings.ts';
import { roles } from './roles.ts';
import { serviceAccounts } from './service-accounts.ts';
import { services } from './services.ts';
import { validatingWebhooks } from './validating-webhooks.ts';

/** Makes objects of one kind, or of one part of the bundle. Pure. */
export type Generator = (
  bundle: RegistryBundle,
  installation: Installation,
) => readonly KubernetesObject[];

/**
 * In order of output. What the bundle ships itself comes after what may be
 * generated under the same name, because of two such objects the later one is kept.
 */
export const generators: readonly Generator[] = [
  namespace,
  serviceAccounts,
  roles,
  roleBindings,
  clusterRoles,
  clusterRoleBindings,
  apiServiceBindings,
  customResourceDefinitions,
  otherObjects,
  // After the bundle's own, which they contain.
  services,
  deployments,
  apiServices,
  mutatingWebhooks,
  validatingWebhooks,
];
