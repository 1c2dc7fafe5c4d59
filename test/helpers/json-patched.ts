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
  for (const operation of patch as readonly JsonPatchOperation[]) {
    patched = applied(patched, operation, object);
  }
  return patched;
}

function applied(
  patched: KubernetesObject,
  { op, path, value }: JsonPatchOperation,
  object: KubernetesObject,
): KubernetesObject {
  const { uid, resourceVersion } = object.metadata;
  switch (`${op} ${path}`) {
    case 'test /metadata/uid':
      if (value !== uid) throw refusal(422, 'Invalid');
      return patched;
    case 'add /metadata/resourceVersion':
      if (value !== resourceVersion) throw refusal(409, 'Conflict');
      return patched;
    case 'add /status':
      return { ...patched, status: value };
    case 'add /metadata/labels':
    case 'add /metadata/annotations':
    case 'add /metadata/ownerReferences': {
      const field = path.slice('/metadata/'.length);
      return { ...patched, metadata: { ...patched.metadata, [field]: value } };
    }
    default:
      throw new Error(`${op} ${path} is not part of this fake`);
  }
}
