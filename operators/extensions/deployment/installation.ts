import { goQuote } from '../../../api/go-quote.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { notedValue } from '../../../api/v1alpha1/rules/noted-value.ts';
import type { Extension } from '../extension.ts';
import {
  type BundleRecord,
  type DeploymentRecord,
  type EarlierBundle,
  readRecord,
  withEarlier,
} from './bundle-record.ts';
import { wantedBundle } from './rollout.ts';

/** What the cluster has of an extension. */
export interface Installation {
  /** Its own BundleDeployment. */
  readonly deployment: BundleDeployment | undefined;
  readonly record: DeploymentRecord | undefined;
  /**
   * The bundle that core last applied completely, also while the status does not say so: one that
   * failed does not count.
   */
  readonly installed: BundleRecord | undefined;
  /** Why the extension cannot have its BundleDeployment; undefined if it can. */
  readonly conflict: string | undefined;
}

/** `found` is the BundleDeployment of the extension's name, whoever it belongs to. */
export function installationOf(
  extension: Extension,
  found: BundleDeployment | undefined,
): Installation {
  if (found === undefined) return withoutDeployment;
  const conflict = conflictWith(extension, found);
  if (conflict !== undefined) return { ...withoutDeployment, conflict };
  const record = readRecord(found.metadata);
  const installed = installedBundle(found, record);
  const obstacle = beingDeleted(found) ?? installedElsewhere(extension, found);
  return { deployment: found, record, installed, conflict: obstacle };
}

/** The installed bundle, once core has reported one: not right after a restore. */
export function reportedBundle({ deployment, installed }: Installation): BundleRecord | undefined {
  return (deployment?.status?.activeBundle ?? '') === '' ? undefined : installed;
}

const withoutDeployment: Installation = {
  deployment: undefined,
  record: undefined,
  installed: undefined,
  conflict: undefined,
};

function conflictWith(extension: Extension, deployment: BundleDeployment): string | undefined {
  const { object, id, name } = extension;
  const owner = deployment.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return conflictWithOrphan(extension, deployment);
  if (owner.uid === object.metadata.uid) return undefined;
  const [kind] = id.split('/');
  if (owner.kind === kind && owner.name === name) {
    return `BundleDeployment "${name}" belongs to an earlier ${kind} of this name. The controller continues when it is deleted: its condition Progressing says what the deletion waits for`;
  }
  return `BundleDeployment "${name}" exists already and belongs to ${owner.kind} "${owner.name}": ${adviceFor(kind)}, ${whatThatDoes}`;
}

/** One without an owner, such as after a restore, or a deletion with --cascade=orphan. */
function conflictWithOrphan(
  { id, name, request: { packageName } }: Extension,
  { metadata }: BundleDeployment,
): string | undefined {
  const [kind] = id.split('/');
  const record = readRecord(metadata);
  if (record?.of !== id) {
    return `BundleDeployment "${name}" exists already and does not belong to this ${kind}: ${adviceFor(kind)}, ${whatThatDoes}`;
  }
  const { package: before } = record.selected;
  if (before === '' || before === packageName) return undefined;
  return `BundleDeployment "${name}" exists already and has package "${before}", not package "${packageName}" of this ${kind}: ${adviceFor(kind)}, which uninstalls package "${before}"`;
}

/** How a user makes way for an extension whose BundleDeployment is taken. */
export function adviceFor(kind: string | undefined): string {
  return `give the ${kind} another name, or delete the BundleDeployment`;
}

const whatThatDoes = 'which uninstalls what it has installed';

function beingDeleted({ metadata }: BundleDeployment): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  return `BundleDeployment "${metadata.name}" is being deleted (deletion requested at ${metadata.deletionTimestamp}): the controller creates it again afterwards`;
}

/** Core would delete what is in the namespace that the spec no longer names. */
function installedElsewhere(
  { id, settings, request: { packageName } }: Extension,
  { metadata }: BundleDeployment,
): string | undefined {
  const present = notedValue(metadata, annotation.installNamespace);
  const wanted = settings?.installNamespace;
  if (present === undefined || wanted === undefined || wanted === present) return undefined;
  const [kind] = id.split('/');
  return `BundleDeployment "${metadata.name}" is installed in namespace ${goQuote(present)}, and the controller does not move it to ${goQuote(wanted)}: delete the ${kind} with --cascade=orphan, and create it with spec.namespace ${goQuote(present)}; or delete the BundleDeployment, which uninstalls package ${goQuote(packageName)}`;
}

function installedBundle(
  deployment: BundleDeployment,
  record: DeploymentRecord | undefined,
): BundleRecord | undefined {
  const active = activeBundle({ deployment, record });
  if (active === undefined) return undefined;
  // The same value as before the template changed: nothing is chosen again for that.
  const { bundle: _, ...installed } = active;
  return installed;
}

/**
 * The installed bundle with the name of its Bundle. `status.activeBundle` may be lost in a restore,
 * and others than core may write it: the record yields only to what core can have done since.
 */
export function activeBundle({
  deployment,
  record,
}: Pick<Installation, 'deployment' | 'record'>): EarlierBundle | undefined {
  if (deployment === undefined) return undefined;
  const { activeBundle: name = '' } = deployment.status ?? {};
  const last = record?.active;
  if (name === '') return last;
  const ofTemplate = { ...templateBundle(deployment, record), bundle: name };
  if (name === wantedBundle(deployment)) return ofTemplate;
  const known = possibleBundles(deployment, record).find(({ bundle }) => bundle === name);
  return known ?? last ?? ofTemplate;
}

/**
 * The earlier bundles that core can have installed since the last one that was seen active. It goes
 * back to those of before only where the spec asks for rollbacks.
 */
function possibleBundles(
  deployment: BundleDeployment,
  record: DeploymentRecord | undefined,
): readonly EarlierBundle[] {
  const { earlier, active: last, selected } = record ?? { earlier: [] };
  if (last === undefined || deployment.spec.rollback !== undefined) return earlier;
  if (last.image === selected?.image) return [];
  const index = earlier.findIndex(({ bundle }) => bundle === last.bundle);
  return index === -1 ? earlier : earlier.slice(0, index);
}

/** The bundle of the template; only its image is known if somebody else wrote the template. */
export function templateBundle(
  deployment: BundleDeployment,
  record: DeploymentRecord | undefined,
): BundleRecord {
  const { source, provisionerClassName: className } = deployment.spec.template.spec;
  const image = source.image?.ref ?? '';
  if (record?.selected.image === image) return record.selected;
  return { package: '', name: '', version: '', image, catalog: '', className };
}

/** The earlier bundles, when the template of the deployment gets another image. */
export function earlierBundles(
  { deployment, record }: Installation,
  image: string,
): readonly EarlierBundle[] {
  const earlier = record?.earlier ?? [];
  if (deployment === undefined) return earlier;
  const last = templateBundle(deployment, record);
  if (last.image === image) return earlier;
  const { activeBundle } = deployment.status ?? {};
  return withEarlier(earlier, { ...last, bundle: wantedBundle(deployment) }, activeBundle);
}
