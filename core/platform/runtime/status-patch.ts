import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../../api/meta.ts';

interface JsonPatchOperation {
  readonly op: 'test' | 'add';
  readonly path: string;
  readonly value: unknown;
}

/**
 * A JSON patch that makes `status` the object's whole status, or undefined where it already is.
 * It fails on a namesake that was created since: the UID is tested. With `ifUnchanged` it conflicts
 * with every change of the object since it was read.
 */
export function statusPatch(
  object: KubernetesObject,
  status: object,
  { ifUnchanged = false } = {},
): readonly JsonPatchOperation[] | undefined {
  if (isDeepStrictEqual(withoutAbsent(object['status'] ?? {}), withoutAbsent(status))) {
    return undefined;
  }
  const { uid, resourceVersion } = object.metadata;
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...(ifUnchanged
      ? [{ op: 'add', path: '/metadata/resourceVersion', value: resourceVersion } as const]
      : []),
    { op: 'add', path: '/status', value: status },
  ];
}

/** `{a: undefined}` and `{}` are one thing on the wire. */
function withoutAbsent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
