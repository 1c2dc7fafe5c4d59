import type { KubernetesObject } from '../../../api/meta.ts';
import {
  type Operator,
  type OperatorStatus,
  operatorReason,
  operatorResource,
  operatorCondition as type,
} from '../../../api/operators/v1alpha1/index.ts';
import { type BundleDeployment, bundleDeploymentCondition } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { findCondition } from '../../../core/controller.ts';
import { isOwnedByDependents } from '../dependencies/made-operator.ts';
import type { BundleRecord } from '../deployment/bundle-record.ts';
import { reportedBundle } from '../deployment/installation.ts';
import type { Extension, ExtensionKind } from '../extension.ts';
import type { ConditionUpdate, Findings } from '../findings.ts';
import { availableBundle } from '../status/available.ts';
import { withConditions } from '../status/conditions.ts';

const { success, resolutionFailed, resolutionUnknown } = operatorReason;
const { installationFailed, installationStatusUnknown } = operatorReason;

export interface OperatorOptions {
  /**
   * Upgrades follow versions (`^V`), as in OpenShift 4.15; otherwise `replaces` of the catalog.
   */
  readonly forceSemverUpgradeConstraints: boolean;
}

/** OLM 1.0 as OpenShift 4.15 has it. */
export function operatorKind(options: OperatorOptions): ExtensionKind {
  return {
    resource: operatorResource,
    catalogKind: 'Catalog',
    read: (object) => readOperator(object as Operator, options),
    status: statusOf,
  };
}

function readOperator(operator: Operator, options: OperatorOptions): Extension {
  const { metadata, spec } = operator;
  const { packageName = '', version, channel, upgradeConstraintPolicy } = spec ?? {};
  const { name = '', annotations } = metadata;
  const enforced = options.forceSemverUpgradeConstraints ? 'semver' : 'replaces';
  return {
    object: operator,
    id: `Operator/${name}`,
    name,
    request: {
      profile: 'operator',
      packageName,
      version,
      channels: channel === undefined ? [] : [channel],
      upgrades: upgradeConstraintPolicy === 'Ignore' ? 'any' : enforced,
    },
    usesCatalog: ({ kind }) => kind === 'Catalog',
    settings: {
      rollbackDeadline: annotations?.[annotation.rollbackDeadline],
      ...(isOwnedByDependents(operator) ? { deletionPolicy: 'KeepCRDs' } : {}),
    },
  };
}

function statusOf(findings: Findings): OperatorStatus {
  const { choice, installation, extension } = findings;
  const before = (extension.object as KubernetesObject & { status?: OperatorStatus }).status;
  const installed = reportedBundle(installation);
  const available = availableBundle(findings, before?.available);
  const resolved = resolvedImage(findings, before);
  const conditions = withConditions(
    findings,
    choice.kind === 'failed'
      ? [installedCondition(findings), resolvedCondition(findings)]
      : [resolvedCondition(findings), installedCondition(findings)],
  );
  return {
    ...(installed === undefined ? {} : { installedBundleResource: installed.image }),
    ...(resolved === undefined ? {} : { resolvedBundleResource: resolved }),
    ...(installed === undefined || installed.name === ''
      ? {}
      : { installed: { name: installed.name, version: installed.version } }),
    ...(available === undefined ? {} : { available }),
    conditions: [...conditions],
  };
}

function resolvedImage(
  { choice }: Findings,
  before: OperatorStatus | undefined,
): string | undefined {
  if (choice.kind === 'pending') return before?.resolvedBundleResource;
  return choice.kind === 'resolved' ? choice.bundle.image : undefined;
}

function resolvedCondition({ choice }: Findings): ConditionUpdate | undefined {
  if (choice.kind === 'pending') return undefined;
  if (choice.kind === 'resolved') {
    const message = `resolved to "${choice.bundle.image}"`;
    return { type: type.resolved, status: 'True', reason: success, message };
  }
  if (choice.reason === 'invalid-version') {
    const message = 'validation has not been attempted as spec is invalid';
    return { type: type.resolved, status: 'Unknown', reason: resolutionUnknown, message };
  }
  const { message } = choice;
  return { type: type.resolved, status: 'False', reason: resolutionFailed, message };
}

const notAttempted = {
  'invalid-version': 'installation has not been attempted as spec is invalid',
  'no-candidates':
    'installation has not been attempted due to failure to gather data for resolution',
  unsatisfiable: 'installation has not been attempted as resolution is unsatisfiable',
  limit: 'installation has not been attempted as resolution exceeds its limits',
} as const;

/** Unlike upstream's, a failed resolution does not hide what is installed. */
function installedCondition(findings: Findings): ConditionUpdate | undefined {
  const { choice, installation, refusal, admission } = findings;
  const { deployment } = installation;
  const installed = reportedBundle(installation);
  if (choice.kind === 'failed' && installed === undefined) {
    return unknown(notAttempted[choice.reason]);
  }
  if (choice.kind === 'pending' && deployment === undefined) return undefined;
  if (refusal !== undefined) return failed(refusal);
  if (deployment === undefined) {
    const isHeld = admission?.state === 'held';
    return unknown(isHeld ? 'installation waits for what the bundle requires' : unknownStatus);
  }
  return reportedCondition(deployment, installed);
}

const unknownStatus = 'bundledeployment status is unknown';

function reportedCondition(
  deployment: BundleDeployment,
  installed: BundleRecord | undefined,
): ConditionUpdate {
  const failure = failureOf(deployment);
  if (failure !== undefined) return failed(`bundledeployment not ready: ${failure}`);
  if (installed === undefined) return unknown(unknownStatus);
  const message = `installed from "${installed.image}"`;
  return { type: type.installed, status: 'True', reason: success, message };
}

/** What core says of the present spec: nothing, as long as it has not looked at it. */
function failureOf({ metadata, status }: BundleDeployment): string | undefined {
  if (status === undefined || status.observedGeneration !== metadata.generation) return undefined;
  const { conditions, activeBundle = '' } = status;
  const installed = findCondition(conditions, bundleDeploymentCondition.installed);
  if (installed !== undefined && installed.status !== 'True') return installed.message;
  if (activeBundle !== '') return undefined;
  const valid = findCondition(conditions, bundleDeploymentCondition.hasValidBundle);
  return valid?.status === 'False' ? valid.message : undefined;
}

function failed(message: string): ConditionUpdate {
  return { type: type.installed, status: 'False', reason: installationFailed, message };
}

function unknown(message: string): ConditionUpdate {
  return { type: type.installed, status: 'Unknown', reason: installationStatusUnknown, message };
}
