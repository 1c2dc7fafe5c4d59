import type { Clock } from '../core/platform/clock.ts';
import {
  type CrdUpgradeOptions,
  crdDeletionValidator,
  crdUpgradeValidator,
} from './crd-upgrade/crd-validators.ts';
import { patientLister } from './crd-upgrade/custom-resources.ts';
import type { AdmissionValidator } from './review.ts';
import { bundleValidator, type ConfigMapReader } from './reviewers/bundle.ts';
import {
  bundleDeploymentValidator,
  type DependencyReader,
  dependencyCycleCheck,
  healthRulesCheck,
  type RuleProblem,
} from './reviewers/bundle-deployment.ts';
import { changedByMutator } from './reviewers/changed-by.ts';
import { type ConfigMapValidatorOptions, configMapValidator } from './reviewers/configmap.ts';
import { type DeletionWarningOptions, deletionWarner } from './reviewers/deletion-warning.ts';
import {
  type ImpersonationCheckOptions,
  impersonationCheck,
  requiredAccountCheck,
} from './reviewers/service-account.ts';
import {
  type SystemDeletionOptions,
  systemDeletionValidator,
} from './reviewers/system-deletion.ts';

export interface AdmissionRouteOptions
  extends ConfigMapValidatorOptions,
    ImpersonationCheckOptions,
    SystemDeletionOptions {
  readonly client: ImpersonationCheckOptions['client'] & SystemDeletionOptions['client'];
  /** Require spec.serviceAccount of deployments. */
  readonly requireServiceAccount: boolean;
  readonly configMaps: ConfigMapReader;
  readonly deployments: DependencyReader;
  readonly ruleProblem: RuleProblem;
}

/** Every validator by its path in the webhook configuration. */
export function admissionRoutes(
  options: AdmissionRouteOptions,
): ReadonlyMap<string, AdmissionValidator> {
  const orders = [
    ...(options.requireServiceAccount ? [requiredAccountCheck] : []),
    impersonationCheck(options),
  ];
  const deploymentChecks = {
    spec: [
      ...orders,
      dependencyCycleCheck(options.deployments),
      healthRulesCheck(options.ruleProblem),
    ],
    orders,
  };
  return new Map([
    ['/validate-core-rukpak-io-v1alpha1-bundle', bundleValidator(options.configMaps)],
    [
      '/validate-core-rukpak-io-v1alpha1-bundledeployment',
      bundleDeploymentValidator(deploymentChecks),
    ],
    ['/mutate-core-rukpak-io-v1alpha1-bundledeployment', changedByMutator],
    ['/validate-core-v1-configmap', configMapValidator(options)],
    ['/validate-system-deletion', systemDeletionValidator(options)],
  ]);
}

export interface CrdRouteOptions extends CrdUpgradeOptions, DeletionWarningOptions {
  readonly client: CrdUpgradeOptions['client'] & DeletionWarningOptions['client'];
  /** Refuse the deletion of CRDs that have custom resources. */
  readonly guardDeletion: boolean;
  readonly clock: Clock;
}

/** The validators of CRDs by their paths. */
export function crdRoutes(options: CrdRouteOptions): ReadonlyMap<string, AdmissionValidator> {
  const { client, clock } = options;
  const judging: CrdUpgradeOptions['client'] = {
    get: (...args) => client.get(...args),
    ...patientLister(client, clock),
  };
  const routes = [
    ['/validate-crd', crdUpgradeValidator({ ...options, client: judging })],
    ['/warn-bundledeployment-deletion', deletionWarner(options)],
  ] as const;
  if (!options.guardDeletion) return new Map(routes);
  return new Map([...routes, ['/validate-crd-deletion', crdDeletionValidator(judging)]]);
}
