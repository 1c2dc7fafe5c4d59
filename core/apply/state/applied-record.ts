import { stringAt } from '../../../api/json-fields.ts';
import type { ObjectKey, Resource } from '../../platform/kube/index.ts';
import type { IgnoredTree } from '../fields/field-tree.ts';
import { digestOf } from '../fields/projection.ts';
import type { MissingVerdict } from '../health/status.ts';
import { type InventoryEntry, projectionUnder } from '../inventory/entry.ts';
import type { DesiredObject } from '../objects/desired.ts';

/** What the engine last applied for one object, and how it looked then. */
export interface AppliedRecord {
  readonly id: string;
  readonly owner: string;
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** Fields of it that others may change. */
  readonly ignored?: IgnoredTree | undefined;
  /** This process found it as it is, and has written nothing. */
  readonly found?: true;
  /** Digest of the desired object. */
  readonly digest: string;
  /** Digest of what it runs, where it ends by itself. */
  readonly runs?: string | undefined;
  /** Projection of the server's answer. */
  readonly projection: string;
  /** The state in which drift of it is accepted: spec.drift.mode is not Correct, and it was told. */
  accepted?: string | undefined;
  /** The object's line for the Healthy condition, as last reported. */
  problem: string | undefined;
  /** Why that line is no verdict of the owner's health rules, which are to judge the object. */
  missingVerdict?: MissingVerdict | undefined;
}

/** The record of an object that now is as desired. */
export function recordOf(desired: DesiredObject, entry: InventoryEntry): AppliedRecord {
  const { ignored } = desired;
  const { owner } = entry;
  const projection = projectionUnder(entry, ignored);
  return { ...recordWithout(desired, owner), projection };
}

/** The record of an object that is not as desired, or not there: nothing that it is later equals this. */
export function recordWithout(desired: DesiredObject, owner: string): AppliedRecord {
  const { id, resource, key, ignored, digest } = desired;
  const runs = runDigest(desired);
  return { id, owner, resource, key, ignored, digest, runs, projection: '', problem: undefined };
}

/** Digest of what an object runs until it ends; undefined where it is none that ends by itself. */
export function runDigest({ resource, object: { spec } }: Runnable): string | undefined {
  if (isJob(resource)) return digestOf(spec);
  const isPod = resource.group === '' && resource.kind === 'Pod';
  return isPod && restartsUntilDone(spec) ? digestOf(spec) : undefined;
}

type Runnable = Pick<DesiredObject, 'resource' | 'object'>;

export function isJob({ group, kind }: Runnable['resource']): boolean {
  return group === 'batch' && kind === 'Job';
}

function restartsUntilDone(spec: unknown): boolean {
  const policy = stringAt(spec, 'restartPolicy');
  return policy === 'Never' || policy === 'OnFailure';
}
