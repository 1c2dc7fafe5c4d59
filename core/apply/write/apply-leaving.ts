import type { KubernetesObject } from '../../../api/meta.ts';
import { isConflict, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { withLeftFields } from './left-fields.ts';
import type { ServerSideApply, ServerSideApplyRequest } from './server-side-apply.ts';

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
