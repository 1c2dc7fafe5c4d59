import {
  type ClusterExtension,
  type ClusterExtensionStatus,
  clusterExtensionReason,
  clusterExtensionResource,
  clusterExtensionCondition as type,
} from '../../../api/olm/v1/index.ts';
import { progressReason } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { selects } from '../choice/label-selector.ts';
import { type BundleRecord, bundleVersion } from '../deployment/bundle-record.ts';
import { reportedBundle } from '../deployment/installation.ts';
import type { Rollout } from '../deployment/rollout.ts';
import type { DeploymentSettings, Extension, ExtensionKind } from '../extension.ts';
import type { ConditionUpdate, Findings } from '../findings.ts';
import { availableBundle } from '../status/available.ts';
import { awaitedContent } from '../status/awaited-content.ts';
import { withConditions } from '../status/conditions.ts';

const { succeeded, failed, absent, retrying, blocked, rollingOut } = clusterExtensionReason;
const { invalidConfiguration, progressDeadlineExceeded } = clusterExtensionReason;

/** OLM 1.0 as operator-controller has it. */
export const clusterExtensionKind: ExtensionKind = {
  resource: clusterExtensionResource,
  catalogKind: 'ClusterCatalog',
  read: (object) => readExtension(object as ClusterExtension),
  status: statusOf,
};

function readExtension(object: ClusterExtension): Extension {
  const { name = '' } = object.metadata;
  const {
    packageName = '',
    version,
    channels,
    selector,
    upgradeConstraintPolicy,
  } = object.spec?.source.catalog ?? {};
  return {
    object,
    id: `ClusterExtension/${name}`,
    name,
    request: {
      profile: 'extension',
      packageName,
      version: version === '' ? undefined : version,
      channels: channels ?? [],
      upgrades: upgradeConstraintPolicy === 'SelfCertified' ? 'any' : 'graph',
    },
    usesCatalog: ({ kind, labels }) => kind === 'ClusterCatalog' && selects(selector, labels),
    settings: settingsOf(object),
  };
}

function settingsOf({ metadata, spec }: ClusterExtension): DeploymentSettings | undefined {
  if (spec === undefined) return undefined;
  const rollbackDeadline = metadata.annotations?.[annotation.rollbackDeadline];
  const { namespace, serviceAccount, config, install, progressDeadlineMinutes: minutes } = spec;
  return {
    installNamespace: namespace,
    serviceAccount: serviceAccount?.name,
    config: flatConfig(config?.inline),
    skipsCrdUpgradeSafety: install?.preflight?.crdUpgradeSafety.enforcement === 'None',
    progressDeadline: minutes === undefined ? undefined : `${minutes}m`,
    rollbackDeadline,
  };
}

/** Upstream has additions to pods in `deploymentConfig`, a BundleDeployment beside the others. */
function flatConfig(inline: Readonly<Record<string, unknown>> | undefined) {
  const { deploymentConfig, ...config } = inline ?? {};
  if (typeof deploymentConfig !== 'object') return inline;
  return { ...deploymentConfig, ...config };
}

function statusOf(findings: Findings): ClusterExtensionStatus {
  const { status: before } = findings.extension.object as ClusterExtension;
  const installed = reportedBundle(findings.installation);
  const bundle = installed && installStatus(installed);
  const available = availableBundle(findings, before?.available);
  const conditions = withConditions(findings, [
    installedCondition(findings),
    progressingCondition(findings),
  ]);
  return {
    conditions: [...conditions],
    ...(bundle === undefined ? {} : { install: { bundle } }),
    ...(available === undefined ? {} : { available }),
  };
}

const bundleNamePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The API server refuses a status with a name or version in another form. */
function installStatus({ name, version }: BundleRecord) {
  return bundleNamePattern.test(name) && version !== '' ? { name, version } : undefined;
}

function installedCondition({
  choice,
  installation,
  rollout,
  refusal,
}: Findings): ConditionUpdate | undefined {
  const installed = reportedBundle(installation);
  if (installed !== undefined) {
    const message = `Installed bundle ${installed.image} successfully`;
    return { type: type.installed, status: 'True', reason: succeeded, message };
  }
  if (choice.kind === 'pending' && installation.deployment === undefined) return undefined;
  const isComing = choice.kind !== 'failed' && refusal === undefined && isAtWork(rollout);
  const reason = isComing ? absent : failed;
  return { type: type.installed, status: 'False', reason, message: 'No bundle installed' };
}

function isAtWork(rollout: Rollout | undefined): boolean {
  return rollout === undefined || rollout.phase === 'unobserved' || rollout.phase === 'running';
}

function progressingCondition(findings: Findings): ConditionUpdate | undefined {
  const { choice, refusal, rollout } = findings;
  if (choice.kind === 'failed') return progressing('True', retrying, choice.message);
  const awaited = awaitedContent(findings);
  if (awaited !== undefined) return progressing('True', retrying, awaited);
  if (refusal !== undefined) {
    return progressing('True', retrying, aboutBundle(findings, refusal));
  }
  if (rollout === undefined || rollout.phase === 'unobserved') {
    return progressing('True', rollingOut, 'Core has not reconciled the BundleDeployment yet.');
  }
  return ofRollout(findings, rollout);
}

function ofRollout(findings: Findings, { phase, reason, message }: Rollout): ConditionUpdate {
  if (phase === 'finished') return progressing('True', succeeded, 'Desired state reached');
  if (phase === 'running') return progressing('True', rollingOut, message);
  const text = aboutBundle(findings, message);
  if (message.includes('parse deployment config: ')) {
    return progressing('False', invalidConfiguration, text);
  }
  if (phase === 'retrying') return progressing('True', retrying, text);
  const isLate = reason === progressReason.progressDeadlineExceeded;
  return progressing('False', isLate ? progressDeadlineExceeded : blocked, text);
}

function aboutBundle({ choice }: Findings, message: string): string {
  if (choice.kind !== 'resolved') return message;
  const version = bundleVersion(choice.bundle);
  return `error for resolved bundle "${choice.bundle.name}" with version "${version}": ${message}`;
}

function progressing(
  status: ConditionUpdate['status'],
  reason: string,
  message: string,
): ConditionUpdate {
  return { type: type.progressing, status, reason, message };
}
