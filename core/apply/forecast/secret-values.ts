import type { KubernetesObject } from '../../../api/meta.ts';

/** In place of what nobody is to see. */
export const mask = '***';

/** Fields of a Secret that hold its values. */
export const secretFields: readonly string[] = ['data', 'stringData'];

/** Has a copy of the whole object in it, of a Secret too. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

export function isSecret({ apiVersion, kind }: KubernetesObject): boolean {
  return kind === 'Secret' && apiVersion === 'v1';
}

/** The metadata of a Secret without the copy of its values that kubectl may have left there. */
export function withoutCopy(metadata: KubernetesObject['metadata']): KubernetesObject['metadata'] {
  const { annotations, ...rest } = metadata;
  if (annotations === undefined) return metadata;
  const { [lastApplied]: copy, ...kept } = annotations;
  return copy === undefined ? metadata : { ...rest, annotations: kept };
}
