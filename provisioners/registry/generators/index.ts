import type { KubernetesObject } from '../../../core/sdk.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Installation } from '../installation.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import { deployments } from './deployments.ts';
import { namespace, otherObjects } from './other-objects.ts';
import {
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  serviceAccounts,
} from './permissions.ts';
import { apiServiceBindings, apiServices, services } from './services.ts';
import { mutatingWebhooks, validatingWebhooks } from './webhooks.ts';

/** Generates objects of one kind, or of one part of the bundle. Pure. */
export type Generator = (
  bundle: RegistryBundle,
  installation: Installation,
) => readonly KubernetesObject[];

/**
 * In order of output. The bundle's own objects come after generated ones of the same name, because
 * the later one of two is kept.
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
  // After the bundle's own Services, which they include.
  services,
  deployments,
  apiServices,
  mutatingWebhooks,
  validatingWebhooks,
];
