import { fieldAt, isMap, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { ApiError, isConflict, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { type FieldConflict, takenItems } from '../fields/field-conflicts.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { withLeftFields } from './left-fields.ts';
import type { ServerSideApply, ServerSideApplyRequest } from './server-side-apply.ts';

interface ReplacingRequest extends ServerSideApplyRequest {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch'>;
  /** Told of the items of others that went, and of the object as it was. */
  readonly onReplaced: (before: KubernetesObject, items: readonly FieldConflict[]) => void;
}

/** Lists of an object that the server would take in place of what people have made of them. */
interface ReplacedLists {
  /** Of map keys. */
  readonly paths: readonly (readonly string[])[];
  /** The live object with the lists of the desired one, as the server would store it. */
  readonly object: KubernetesObject;
  /** The live object's managedFields with the items of others as ours. */
  readonly managedFields: readonly unknown[];
  readonly taken: readonly FieldConflict[];
}

/**
 * Applies an object. Where the server refuses it because of items that people put into one of its
 * lists, such as a Service's port without a name beside ours, the list is replaced: an apply
 * merges lists by key, and would be refused for ever. Nothing is replaced where that does not help.
 * @throws ApiError where the server refuses.
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

/** True where items of others are ours now, and the next apply takes them out. */
async function replace(request: ReplacingRequest, refusal: unknown): Promise<boolean> {
  const { client, desired, onReplaced, signal } = request;
  if (listsOf(refusal, desired).length === 0) return false;
  // What the watches keep has lost the fields of others.
  const live = await liveObject(client, desired, signal);
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
  /** With all of its managed fields. */
  readonly live: KubernetesObject;
  /** Why the desired object could not be applied. */
  readonly refusal: unknown;
  readonly signal: AbortSignal;
}

/** Asks the server by a dry run; undefined where it is not for items of others that it refuses. */
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

/** The lists of the object that a refusal finds fault with. */
function listsOf(
  refusal: unknown,
  { object, ignored }: DesiredObject,
): readonly (readonly string[])[] {
  // What is left to others is theirs, however little it fits.
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

/** It is the bundle's own content that is refused, or somebody else was quicker. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && [409, 422].includes(error.code);
}

const attempts = 5;

interface LeavingRequest extends ServerSideApplyRequest {
  readonly client: Pick<KubeClient, 'get' | 'apply'>;
}

/**
 * Applies an object without the fields that are left to others. What is sent in their place is of
 * one version of the object: whoever writes it meanwhile is not overwritten.
 * @throws ApiError where the server refuses, or somebody else is quicker each time.
 */
export async function applyLeaving(
  apply: ServerSideApply,
  request: LeavingRequest,
): Promise<KubernetesObject> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply.apply(await withLiveFields(request));
    } catch (error) {
      if (request.createOnly || !isConflict(error) || attempt === attempts) throw error;
    }
  }
}

async function withLiveFields(request: LeavingRequest): Promise<ServerSideApplyRequest> {
  const { client, desired, createOnly, signal } = request;
  if (desired.ignored === undefined || createOnly) return request;
  // What the watches keep has lost its content, and may be old.
  const live = await liveObject(client, desired, signal);
  if (live === undefined) return { ...request, createOnly: true };
  const object = withLeftFields(desired.object, live, desired.ignored.tree);
  const { resourceVersion = '' } = live.metadata;
  const metadata = { ...object.metadata, resourceVersion };
  return { ...request, desired: { ...desired, object: { ...object, metadata } } };
}
