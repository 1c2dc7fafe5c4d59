import type { KubernetesObject } from '../../api/meta.ts';
import { ApiError } from '../../core/platform/kube/index.ts';

interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/** What an API server answers that refuses. */
export function refusal(code: number, reason: string): ApiError {
  return new ApiError(code, { code, reason, message: reason });
}

/** The object after a JSON patch of the operations that our code sends. */
export function jsonPatched(object: KubernetesObject, patch: unknown): KubernetesObject {
  let patched = object;
  for (const { op, path, value } of patch as readonly JsonPatchOperation[]) {
    if (op === 'test' && path === '/metadata/uid') {
      if (value !== object.metadata.uid) throw refusal(422, 'Invalid');
    } else if (op === 'add' && path === '/metadata/resourceVersion') {
      if (value !== object.metadata.resourceVersion) throw refusal(409, 'Conflict');
    } else if (op === 'add' && path === '/status') {
      patched = { ...patched, status: value };
    } else {
      throw new Error(`${op} ${path} is not part of this fake`);
    }
  }
  return patched;
}
