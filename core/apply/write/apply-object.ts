import { fieldAt, isMap, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { ApiError, isConflict, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { type FieldConflict, takenItems } from '../fields/field-conflicts.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { withLeftFields } from './left-fields.ts';
import {
  isReplaced,
  type ServerSideApply,
  type ServerSideApplyRequest,
} from './server-side-apply.ts';

interface ReplacingRequest extends ServerSideApplyRequest {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch'>;
  /** Receives the removed list items of others, and the object before the apply. */
  readonly onReplaced: (before: KubernetesObject, items: readonly FieldConflict[]) => void;
}

/** Lists of an object that the server accepts only after other managers' items are removed. */
interface ReplacedLists {
  /** Each a list of map keys. */
  readonly paths: readonly (readonly string[])[];
  /** The live object with the desired lists, as the server would store it. */
  readonly object: KubernetesObject;
  /** The live object's managedFields, with the items of others as core's. */
  readonly managedFields: readonly unknown[];
  readonly taken: readonly FieldConflict[];
}

/**
 * Applies an object. An apply merges lists by key, so the server would refuse it for ever when
 * people added an item that does not fit, such as a Service port without a name beside the
 * bundle's. Core then replaces that list, but only when this helps.
 * @throws ApiError when the server refuses.
 */
export async function applyReplacing(
  apply: ServerSideApply,
  request: ReplacingRequest,
): Promise<KubernetesObject> {
  try {
    return await applyLeaving(apply, request);
  } catch (error) {
    if (request.createOnly || !(await replace(request, error))) throw error;
    return await applyLeaving(apply, request);
  }
}

/** True when core now manages the items of others, so that the next apply removes them. */
async function replace(request: ReplacingRequest, refusal: unknown): Promise<boolean> {
  const { client, desired, uid, onReplaced, signal } = request;
  if (listsOf(refusal, desired).length === 0) return false;
  // The watch cache does not keep the fields of other managers.
  const live = await liveObject(client, desired, signal);
  // What was made in its place meanwhile is not judged yet.
  if (uid !== undefined && live?.metadata.uid !== uid) return false;
  const lists = live && (await replacedLists(client, { desired, live, refusal, signal }));
  if (live === undefined || lists === undefined) return false;
  const fields = { op: 'replace', path: '/metadata/managedFields', value: lists.managedFields };
  try {
    await client.patch(desired, [fields, versionOf(live)], { type: 'json', signal });
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
  onReplaced(live, lists.taken);
  return true;
}

interface ReplacedRequest {
  readonly desired: DesiredObject;
  /** With all managed fields. */
  readonly live: KubernetesObject;
  /** The error of the refused apply. */
  readonly refusal: unknown;
  readonly signal: AbortSignal;
}

/**
 * Asks the server by a dry run; undefined when items of others are not the cause of the refusal.
 */
export async function replacedLists(
  client: Pick<KubeClient, 'patch'>,
  { desired, live, refusal, signal }: ReplacedRequest,
): Promise<ReplacedLists | undefined> {
  const paths = listsOf(refusal, desired);
  const items = takenItems(live, desired.object, paths);
  if (items === undefined) return undefined;
  const replaced = paths.map((path) => ({
    op: 'replace',
    path: `/${path.join('/')}`,
    value: fieldAt(desired.object, ...path),
  }));
  try {
    const options = { type: 'json', dryRun: true, signal } as const;
    const object = await client.patch(desired, [...replaced, versionOf(live)], options);
    return { paths, object, ...items };
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** The lists of the object that a refusal names. */
function listsOf(
  refusal: unknown,
  { object, ignored }: DesiredObject,
): readonly (readonly string[])[] {
  // Ignored fields belong to others, even when they make the object invalid.
  if (!(refusal instanceof ApiError) || refusal.code !== 422 || ignored !== undefined) return [];
  const fields = (refusal.status.details?.causes ?? []).map(({ field = '' }) => field);
  const names = fields.flatMap((field) => /^([\w.-]+)\[\d+\]/.exec(field)?.[1] ?? []);
  return [...new Set(names)]
    .map((name) => name.split('.'))
    .filter((path) => listOf(fieldAt(object, ...path)).some(isMap));
}

function versionOf({ metadata: { resourceVersion } }: KubernetesObject): object {
  return { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion };
}

/** The bundle's own content is refused, or somebody changed the object meanwhile. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && [409, 422].includes(error.code);
}

const attempts = 5;

interface LeavingRequest extends ServerSideApplyRequest {
  readonly client: Pick<KubeClient, 'get' | 'apply'>;
}

/**
 * Applies an object without its ignored fields. The request is bound to one version of the object,
 * and never overwrites what others write meanwhile.
 * @throws ApiError when the server refuses, or when every attempt meets a conflict.
 */
export async function applyLeaving(
  apply: ServerSideApply,
  request: LeavingRequest,
): Promise<KubernetesObject> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply.apply(await withLiveFields(request));
    } catch (error) {
      if (request.createOnly || isReplaced(error)) throw error;
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

async function withLiveFields(request: LeavingRequest): Promise<ServerSideApplyRequest> {
  const { client, desired, createOnly, signal } = request;
  if (desired.ignored === undefined || createOnly) return request;
  // The watch cache does not keep the content, and may be old.
  const live = await liveObject(client, desired, signal);
  if (live === undefined) return { ...request, createOnly: true };
  const object = withLeftFields(desired.object, live, desired.ignored.tree);
  const { resourceVersion = '' } = live.metadata;
  const metadata = { ...object.metadata, resourceVersion };
  return { ...request, desired: { ...desired, object: { ...object, metadata } } };
}
