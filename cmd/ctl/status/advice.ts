import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
  kstatusCondition,
  progressReason,
} from '../../../api/v1alpha1/conditions.ts';
import { age } from '../terminal/text.ts';
import type { BundleReport } from './bundle-report.ts';
import { conditionOf, deploymentState, isGood } from './deployment-state.ts';
import { cureOfBundle, cureOfDeployment } from './known-causes.ts';
import { isHealthy, objectArguments } from './object-report.ts';
import type { StatusReport } from './status-report.ts';

/** Milliseconds for which a change may normally wait for its class. */
const patience = 10_000;

/** Renders objects of operators, and leaves applying them to another class. */
const contentClass = 'core-rukpak-io-registry';

type AdviceRule = (report: StatusReport, now: number) => string | undefined;

/** From the first cause to the last effect: the first matching rule decides. */
const rules: readonly AdviceRule[] = [
  forDeletion,
  forUnobserved,
  forPause,
  forNextBundle,
  forWaiting,
  forInstallation,
  forHealth,
];

/** What the user can do about a problem; undefined without a problem. `now` is in milliseconds. */
export function advice(report: StatusReport, now: number): string | undefined {
  if (isGood(report.deployment)) return undefined;
  for (const rule of rules) {
    const text = rule(report, now);
    if (text !== undefined) return text;
  }
  return undefined;
}

function forDeletion(report: StatusReport): string | undefined {
  const { deployment } = report;
  if (deploymentState(deployment).state !== 'Deleting') return undefined;
  const held = conditionOf(deployment, bundleDeploymentCondition.progressing);
  if (held?.reason === bundleDeploymentReason.permissionsMissing) {
    const known = cureOfDeployment(held.message, report);
    if (known !== undefined) return known;
  }
  return held === undefined
    ? 'it is being deleted: it waits for its finalizers, or for objects with finalizers of their own'
    : 'it is being deleted: condition Progressing above says what the deletion waits for (docs/howto/prune-and-delete.md#deletion)';
}

function forUnobserved(report: StatusReport, now: number): string | undefined {
  const { deployment } = report;
  if (deploymentState(deployment).state !== 'NotObserved') return undefined;
  const { provisionerClassName: className } = deployment.spec;
  if (className === contentClass) {
    return `class "${className}" applies nothing: write core-rukpak-io-plain as spec.provisionerClassName, and keep ${className} in spec.template.spec`;
  }
  const told = conditionOf(deployment, kstatusCondition.ready)?.message ?? '';
  const known =
    deployment.status?.observedGeneration === undefined && cureOfDeployment(told, report);
  return known || unserved({ what: 'it', className, since: lastChange(deployment) }, now);
}

function forPause({ deployment, name }: StatusReport): string | undefined {
  if (deployment.spec.paused !== true) return undefined;
  return `it is paused: rukpakctl resume ${name}`;
}

function forNextBundle(report: StatusReport, now: number): string | undefined {
  const bundle = report.bundles.find(
    ({ role, phase }) => role !== 'superseded' && phase !== 'Unpacked',
  );
  return bundle === undefined ? undefined : forBundle(bundle, report, now);
}

function forBundle(bundle: BundleReport, report: StatusReport, now: number): string {
  const { name, phase, source, message = '' } = bundle;
  const isUpload = phase === 'Pending' && source === 'upload';
  if (isUpload)
    return `Bundle "${name}" waits for its content: rukpakctl run ${report.name} <directory>`;
  const known = cureOfBundle(message, report);
  if (known !== undefined) return known;
  switch (phase) {
    case '':
      return unserved(
        { what: `Bundle "${name}"`, className: bundle.class, since: Date.parse(bundle.created) },
        now,
      );
    case 'Deleting':
      return `Bundle "${name}" is being deleted, and core creates it again afterwards: kubectl describe bundle ${name} shows what its deletion waits for`;
    case 'Pending':
      return `Bundle "${name}" waits for its source and tries again by itself: make "${source}" reachable, or correct spec.template.spec.source`;
    case 'Failing':
      return `${unknown(`why Bundle "${name}" fails`)}: its message names the problem. If the content is wrong, correct it, publish it, and put the new reference into spec.template.spec.source (rukpakctl validate names all problems)`;
    default:
      return `Bundle "${name}" is being unpacked: check again in a few seconds`;
  }
}

/** Says that the cause is unknown, which is better than a wrong guess. */
function unknown(what: string): string {
  return `rukpakctl does not know ${what}`;
}

function forWaiting({ deployment }: StatusReport): string | undefined {
  const held = conditionOf(deployment, bundleDeploymentCondition.progressing);
  if (held?.reason === progressReason.waitingForDependencies) {
    return 'core continues by itself when they are installed and healthy: rukpakctl status shows why each is not';
  }
  if (held?.reason === progressReason.awaitingApproval) return forApproval(deployment);
  if (held?.reason === progressReason.waitingForHook) {
    return 'core continues by itself when the hook is done: kubectl describe and kubectl logs show its progress';
  }
  if (held?.reason !== progressReason.waitingForStage) return undefined;
  return 'core continues by itself when these objects are healthy: kubectl describe shows why each is not';
}

function forApproval({ metadata: { name }, status }: BundleDeployment): string {
  const { plan } = status ?? {};
  if (plan !== undefined && plan.problems === undefined) {
    return `review the plan (rukpakctl plan ${name}), and approve it: rukpakctl approve ${name}`;
  }
  return 'remove the obstacle that condition Progressing names; core then makes the plan again';
}

function forInstallation(report: StatusReport): string | undefined {
  const { deployment, name } = report;
  const { state, reason } = deploymentState(deployment);
  if (state !== 'NotInstalled' && state !== 'Installed') return undefined;
  return (
    cureOfDeployment(reason, report) ??
    `${unknown('a cure for this')}: condition Ready names the problem, kubectl describe bundledeployment ${name} lists its Events, and core's log has the details. Core retries by itself`
  );
}

function forHealth({ objects }: StatusReport): string | undefined {
  const sick = objects.items.find((object) => object.hook === undefined && !isHealthy(object));
  if (sick === undefined) return undefined;
  return `look at ${sick.kind} "${sick.name}": kubectl describe ${objectArguments(sick)}`;
}

interface Unserved {
  /** Object of the sentence. */
  readonly what: string;
  readonly className: string;
  /** Milliseconds. */
  readonly since: number;
}

function unserved({ what, className, since }: Unserved, now: number): string {
  if (now - since < patience) return 'it was changed a moment ago: check again in a few seconds';
  return `no manager has reconciled ${what} for ${age(now - since)}: is a manager running that serves class "${className}" (rukpak core --provisioner …), or is it misspelled? See rukpakctl verify`;
}

/** Time in milliseconds of the last change to anything but the status. */
function lastChange({ metadata }: StatusReport['deployment']): number {
  const times = listOf(fieldAt(metadata, 'managedFields'))
    .filter((entry) => isMap(entry) && entry['subresource'] !== 'status')
    .map((entry) => Date.parse(stringAt(entry, 'time') ?? ''));
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length > 0 ? Math.max(...known) : Date.parse(metadata.creationTimestamp ?? '');
}
