import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/meta.ts';

interface JsonPatchOperation {
  readonly op: 'test' | 'add';
  readonly path: string;
  readonly value: unknown;
}

/**
 * A JSON patch that makes `status` the object's whole status, or undefined where it already is.
 * It fails on a namesake that was created since: the UID is tested.
 */
export function statusPatch(
  object: KubernetesObject,
  status: object,
): readonly JsonPatchOperation[] | undefined {
  if (isDeepStrictEqual(withoutAbsent(object['status'] ?? {}), withoutAbsent(status))) {
    return undefined;
  }
  return [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
    { op: 'add', path: '/status', value: status },
  ];
}

/** `{a: undefined}` and `{}` are one thing on the wire. */
function withoutAbsent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
