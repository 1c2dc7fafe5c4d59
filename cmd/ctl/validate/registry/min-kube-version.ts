import { stringAt } from '../../../../api/json-fields.ts';
import { error, type Finding, warning } from '../finding.ts';
import type { LocatedObject } from '../manifest-objects.ts';
import { placeOf } from './bundle-content.ts';
import { versionProblem } from './strict-version.ts';

const notInformed =
  'csv.Spec.minKubeVersion is not informed. It is recommended you provide this information. ' +
  'Otherwise, it would mean that your operator project can be distributed and installed in any cluster version ' +
  'available, which is not necessarily the case for all projects.';

/** The oldest version of Kubernetes that the operator runs on: named, and a version. */
export function minKubeVersionFindings(csv: LocatedObject): readonly Finding[] {
  const version = stringAt(csv.object['spec'], 'minKubeVersion') ?? '';
  const place = placeOf(csv, 'spec', 'minKubeVersion');
  if (version.trim() === '') {
    return [
      warning({ place, message: notInformed, fix: 'set spec.minKubeVersion, for example 1.25.0' }),
    ];
  }
  if (versionProblem(version) === undefined) return [];
  const message = `csv.Spec.MinKubeVersion has an invalid value: ${version}`;
  return [error({ place, message, fix: 'write it as three numbers, for example 1.25.0' })];
}
