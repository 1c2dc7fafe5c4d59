import { fieldAt, isMap, listOf, stringAt } from '../../../../api/json-fields.ts';
import { error, type Finding } from '../finding.ts';
import type { LocatedObject } from '../manifest-objects.ts';
import { placeOf } from './bundle-content.ts';
import { nameProblems } from './kube-names.ts';

/** The versions of a CRD: there, named once each, with a schema, one of them stored. */
export function crdVersionFindings(crd: LocatedObject): readonly Finding[] {
  const versions = listOf(fieldAt(crd.object['spec'], 'versions'));
  if (versions.length > 0) {
    return [
      ...versions.flatMap((version, index) => versionFindings(crd, version, index)),
      ...repeatedNames(crd, versions),
      ...storage(crd, versions),
    ];
  }
  return [
    error({
      place: placeOf(crd, 'spec'),
      message: 'spec.versions: Required value: must have at least one version',
      fix: 'list the versions, each with name, served, storage and schema',
    }),
  ];
}

function versionFindings(crd: LocatedObject, version: unknown, index: number): readonly Finding[] {
  const name = stringAt(version, 'name') ?? '';
  const field = `spec.versions[${index}]`;
  const problems = nameProblems('label', name);
  const badName =
    problems.length === 0
      ? []
      : [
          error({
            place: placeOf(crd, 'spec', 'versions', index, 'name'),
            message: `${field}.name: Invalid value: "${name}": ${problems.join(',')}`,
            fix: 'write it as v1, v1beta1 or the like',
          }),
        ];
  if (isMap(fieldAt(version, 'schema', 'openAPIV3Schema'))) return badName;
  return [
    ...badName,
    error({
      place: placeOf(crd, 'spec', 'versions', index),
      message: `${field}.schema.openAPIV3Schema: Required value: schemas are required`,
      fix: 'write one; "type: object" with x-kubernetes-preserve-unknown-fields takes anything',
    }),
  ];
}

function repeatedNames(crd: LocatedObject, versions: readonly unknown[]): readonly Finding[] {
  const names = versions.map((version) => stringAt(version, 'name') ?? '');
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [
          error({
            place: placeOf(crd, 'spec', 'versions', index, 'name'),
            message: `spec.versions[${index}].name: Invalid value: "${name}": must contain unique version names`,
            fix: 'keep one version of the name',
          }),
        ],
  );
}

function storage(crd: LocatedObject, versions: readonly unknown[]): readonly Finding[] {
  const stored = versions.flatMap((version, index) =>
    fieldAt(version, 'storage') === true ? [index] : [],
  );
  if (stored.length === 1) return [];
  const [, second] = stored;
  const place =
    second === undefined
      ? placeOf(crd, 'spec', 'versions')
      : placeOf(crd, 'spec', 'versions', second, 'storage');
  const message =
    'spec.versions: Invalid value: must have exactly one version marked as storage version';
  return [
    error({
      place,
      message,
      fix: 'set storage to true for one version, and to false for the others',
    }),
  ];
}
