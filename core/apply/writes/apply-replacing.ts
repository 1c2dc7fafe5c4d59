import type { KubernetesObject } from '../../../api/meta.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/kube-client.ts';
import { liveObject } from '../../kube/live-object.ts';
import type { FieldConflict } from '../fields/field-conflicts.ts';
import { fieldAt, isMap, listOf } from '../fields/json-fields.ts';
import { takenItems } from '../fields/stray-items.ts';
import { applyLeaving } from './apply-leaving.ts';
import type { ServerSideApply, ServerSideApplyRequest } from './server-side-apply.ts';

interface ReplacingRequest extends ServerSideApplyRequest {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch'>;
  /** Told of the items of others that went, and of the object as it was. */
  readonly onReplaced: (before: KubernetesObject, items: readonly FieldConflict[]) => void;
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
    if (request.createOnly || !(await takeItems(request, listsOf(error, request)))) throw error;
    return await applyLeaving(apply, request);
  }
}

/** The lists of the object that a refusal finds fault with. */
function listsOf(
  error: unknown,
  { desired: { object, ignored } }: ReplacingRequest,
): readonly (readonly string[])[] {
  // What is left to others is theirs, however little it fits.
  if (!(error instanceof ApiError) || error.code !== 422 || ignored !== undefined) return [];
  const fields = (error.status.details?.causes ?? []).map(({ field = '' }) => field);
  const names = fields.flatMap((field) => /^([\w.-]+)\[\d+\]/.exec(field)?.[1] ?? []);
  return [...new Set(names)]
    .map((name) => name.split('.'))
    .filter((path) => listOf(fieldAt(object, ...path)).every(isMap));
}

/** True where items of others are ours now, and the next apply takes them out. */
async function takeItems(
  { client, desired, onReplaced, signal }: ReplacingRequest,
  lists: readonly (readonly string[])[],
): Promise<boolean> {
  if (lists.length === 0) return false;
  // What the watches keep has lost the fields of others.
  const live = await liveObject(client, desired, signal);
  const items = live && takenItems(live, desired.object, lists);
  if (live === undefined || items === undefined) return false;
  const version = {
    op: 'replace',
    path: '/metadata/resourceVersion',
    value: live.metadata.resourceVersion,
  };
  const replaced = lists.map((path) => ({
    op: 'replace',
    path: `/${path.join('/')}`,
    value: fieldAt(desired.object, ...path),
  }));
  try {
    await client.patch(desired, [...replaced, version], { type: 'json', dryRun: true, signal });
    const fields = { op: 'replace', path: '/metadata/managedFields', value: items.managedFields };
    await client.patch(desired, [fields, version], { type: 'json', signal });
  } catch (error) {
    // It is the bundle's own content that is refused, or somebody else was quicker.
    if (error instanceof ApiError && [409, 422].includes(error.code)) return false;
    throw error;
  }
  onReplaced(live, items.taken);
  return true;
}
