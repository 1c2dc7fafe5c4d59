import { mapOf } from '../../json-fields.ts';
import { annotation } from '../labels.ts';

const resourcePolicy = 'helm.sh/resource-policy';

/**
 * Name of the annotation, core's or Helm's, with which an object outlives its deployment; undefined
 * without one. Helm reads its own in any case and with blanks around it.
 */
export function keepAnnotation(annotations: unknown): string | undefined {
  const { [annotation.keep]: keep, [resourcePolicy]: policy } = mapOf(annotations);
  if (keep === 'true') return annotation.keep;
  const isKept = typeof policy === 'string' && policy.trim().toLowerCase() === 'keep';
  return isKept ? resourcePolicy : undefined;
}
