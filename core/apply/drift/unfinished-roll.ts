import { annotation } from '../../../api/v1alpha1/labels.ts';
import { fieldPath } from '../fields/field-path.ts';
import { withoutFields } from '../fields/field-tree.ts';
import { fieldAt } from '../fields/json-fields.ts';
import { missingFields } from '../fields/missing-fields.ts';
import { managedFieldsOf } from '../fields/projection.ts';
import type { PlannedObject } from '../objects/planned.ts';

const hashPath = fieldPath('spec.template.metadata.annotations', annotation.certificateHash);
const ownedHash = ['spec', 'template', 'metadata', 'annotations', annotation.certificateHash].map(
  (key) => `f:${key}`,
);

/**
 * True for pods that are still to be rolled for a certificate that was written before the process
 * ended: nothing but the note of it differs, and nobody else has set that. No drift, then: nobody
 * but the engine would ever bring it to an end.
 */
export function isUnfinishedRoll({ desired, live }: PlannedObject): boolean {
  if (live === undefined) return false;
  if (fieldAt(managedFieldsOf(live), ...ownedHash) === undefined) return false;
  const differing = missingFields(withoutFields(desired.object, desired.ignored?.tree), live);
  return differing.length === 1 && differing[0] === hashPath;
}
