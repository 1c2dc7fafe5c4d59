import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import type { AppliedStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { notedValue, withNote } from '../../../api/v1alpha1/rules/noted-value.ts';
import { digestOf } from '../../apply/index.ts';

// What a status decides counts only if an annotation has its digest: requests to /status cannot
// change metadata (docs/adr/0086-what-a-status-decides-is-noted.md).

/** The last status that core wrote or believed, of the deployment with that UID. */
export interface BelievedStatus {
  readonly uid: string | undefined;
  readonly status: BundleDeploymentStatus;
}

/** What this process remembers of the deployment. */
interface Remembered {
  readonly believed?: BelievedStatus;
  readonly lastApplied?: {
    readonly recipe: { readonly deployment: KubernetesObject; readonly bundle: KubernetesObject };
  };
}

interface Note {
  readonly activeBundle: string;
  readonly digests: readonly string[];
}

/** Undefined without a note, and for a copy of another deployment's manifest. */
function noteOf(metadata: ObjectMeta): Note | undefined {
  const value = notedValue(metadata, annotation.notedStatus);
  if (value === undefined) return undefined;
  const [activeBundle = '', digests = ''] = value.split('/');
  return { activeBundle, digests: digests.split(',') };
}

const known = new WeakMap<BundleDeploymentStatus, string>();

/** Digest of the fields that decide which Bundle is the target, and what needs no approval. */
function digestOfStatus(status: BundleDeploymentStatus): string {
  const remembered = known.get(status);
  if (remembered !== undefined) return remembered;
  const { activeBundle, applied, approval, history, progress, rollback } = status;
  const content = applied?.objects === undefined ? undefined : [applied.uid, applied.objects];
  const digest = digestOf({ activeBundle, approval, content, history, progress, rollback });
  known.set(status, digest);
  return digest;
}

const nothing = digestOfStatus({});

/** False for a deployment with the fields of RukPak only: its status decides little. */
function needsNote({ spec, status = {} }: Pick<BundleDeployment, 'spec' | 'status'>): boolean {
  return spec.upgradePolicy === 'Manual' || hasDecisions(status);
}

function hasDecisions({ approval, history, rollback }: BundleDeploymentStatus): boolean {
  return approval !== undefined || history !== undefined || rollback !== undefined;
}

/** Whether core has written what the status decides. */
export function isBelieved(deployment: BundleDeployment): boolean {
  const note = noteOf(deployment.metadata);
  if (note === undefined) return !needsNote(deployment);
  return note.digests.includes(digestOfStatus(deployment.status ?? {}));
}

/**
 * The annotation for that status; undefined when it needs none. With `former`, both statuses count,
 * because core may end between the writes of annotation and status.
 */
export function noteFor(
  { metadata, spec }: BundleDeployment,
  status: BundleDeploymentStatus,
  former?: BundleDeploymentStatus,
): string | undefined {
  if (former === undefined && !needsNote({ spec, status })) return undefined;
  const digests = new Set([digestOfStatus(status)]);
  // A former status that decides nothing may be lost.
  if (former !== undefined) digests.add(digestOfStatus(former));
  if (digestOfStatus(status) !== nothing) digests.delete(nothing);
  return withNote(metadata.name ?? '', `${status.activeBundle ?? ''}/${[...digests].join()}`);
}

/**
 * The deployment with the status that core believes: its own, else the remembered one, else its own
 * without what it decides.
 */
export function believed(
  deployment: BundleDeployment,
  remembered: Remembered = {},
): BundleDeployment {
  const { metadata, status } = deployment;
  if (status === undefined || isBelieved(deployment)) return deployment;
  const { believed: last } = remembered;
  if (last !== undefined && last.uid === metadata.uid) {
    const before = { ...deployment, status: last.status };
    // Another process may have written a later status since; kubectl replace removes the note.
    if (noteOf(metadata) === undefined || isBelieved(before)) return before;
  }
  return { ...deployment, status: withoutDecisions(deployment, remembered) };
}

function withoutDecisions(
  deployment: BundleDeployment,
  remembered: Remembered,
): BundleDeploymentStatus {
  const { metadata, spec, status = {} } = deployment;
  const { activeBundle: stated, applied, approval: _, history: __, ...others } = status;
  const { progress: ___, rollback: ____, ...rest } = others;
  const note = noteOf(metadata);
  // A restored deployment without status has nothing installed yet, whatever its note says.
  const activeBundle = stated && (note === undefined ? stated : note.activeBundle);
  const isKnown = note === undefined && activeBundle === appliedBundle(metadata, remembered);
  return {
    ...rest,
    ...(activeBundle !== undefined && { activeBundle }),
    ...(applied !== undefined && { applied: withoutContent(applied) }),
    // Without any approval, the active Bundle would count as approved as it is rendered now.
    ...(spec.upgradePolicy === 'Manual' &&
      activeBundle &&
      !isKnown && { approval: { bundle: activeBundle, uid: '', rendering: '' } }),
  };
}

/** The Bundle that this process itself has applied completely. */
function appliedBundle({ uid }: ObjectMeta, { lastApplied }: Remembered): string | undefined {
  const { deployment, bundle } = lastApplied?.recipe ?? {};
  return deployment?.metadata.uid === uid ? bundle?.metadata.name : undefined;
}

function withoutContent(applied: AppliedStatus): AppliedStatus {
  const { objects: _, ...rest } = applied;
  return rest;
}

/**
 * Digest of a status that others have changed; undefined for one that core believes, and for one
 * that is lost or never was noted, which is no news.
 */
export function forgedDigest(
  deployment: BundleDeployment,
  remembered?: Remembered,
): string | undefined {
  const { metadata, status = {} } = deployment;
  if (noteOf(metadata) === undefined && !hasDecisions(status)) return undefined;
  const digest = digestOfStatus(status);
  const { status: other = {} } = believed(deployment, remembered);
  return digest === digestOfStatus(other) ? undefined : digest;
}
