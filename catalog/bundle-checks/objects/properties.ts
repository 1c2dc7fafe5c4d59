import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import { errorMessage } from '../../../core/errors.ts';
import { parseJson } from '../../../core/sdk.ts';
import { versionProblem } from '../../../resolver/versions/index.ts';
import {
  annotationPrefix,
  annotationsOf,
  type BundleContent,
  type Check,
  placeOf,
} from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';

/** Checks the bundle's properties, name and version for catalogs. */
export const properties: Check = {
  name: 'properties',
  summary: 'properties, version and release as catalogs have them',
  optional: false,
  find: (bundle) => [
    ...writtenProperties(bundle),
    ...annotationProperties(bundle),
    ...versionFindings(bundle),
    ...releaseFindings(bundle),
  ],
};

function writtenProperties({ properties: found }: BundleContent): readonly Finding[] {
  if (found === undefined) return [];
  return listOf(found.value).flatMap((entry, index) => {
    const place = { file: found.file, document: 0, path: ['properties', index] };
    if (isMap(fieldAt(entry, 'property'))) {
      const message = 'a property below "property" is read by no tool';
      return [
        warning({ place, message, fix: 'write its type and value directly below properties' }),
      ];
    }
    if (stringAt(entry, 'type') !== 'olm.package') return [];
    const message =
      'olm.package is made from the annotations and spec.version, and what is written here has no effect';
    return [warning({ place, message, fix: 'remove it' })];
  });
}

function annotationProperties({ csv }: BundleContent): readonly Finding[] {
  const text = stringAt(csv?.object.metadata.annotations, 'olm.properties');
  if (csv === undefined || text === undefined) return [];
  try {
    parseJson(text);
    return [];
  } catch (problem) {
    const place = placeOf(csv, 'metadata', 'annotations', 'olm.properties');
    const message = `failed to unmarshal csv annotation properties: ${errorMessage(problem)}`;
    return [
      warning({ place, message, fix: 'write a list in JSON, or use metadata/properties.yaml' }),
    ];
  }
}

function versionFindings({ csv, csvName }: BundleContent): readonly Finding[] {
  const version = fieldAt(csv?.object['spec'], 'version');
  if (csv === undefined || version === undefined || version === null) return [];
  const place = placeOf(csv, 'spec', 'version');
  if (typeof version !== 'string') {
    const message =
      'failed to derive properties: json: cannot unmarshal number into Go value of type string';
    return [error({ place, message, fix: 'put the version in quotes' })];
  }
  const problem = versionProblem(version);
  if (problem === undefined) return [];
  const message = `error parsing bundle "${csvName}" version "${version}": ${problem}`;
  return [error({ place, message, fix: 'write a version of three numbers, for example 1.0.0' })];
}

function releaseFindings(bundle: BundleContent): readonly Finding[] {
  const { csv, csvName } = bundle;
  const spec = csv?.object['spec'];
  const release = fieldAt(spec, 'release');
  if (csv === undefined || release === undefined || release === null) return [];
  const place = placeOf(csv, 'spec', 'release');
  if (typeof release !== 'string') {
    const message =
      'cannot unmarshal number into Go struct field ClusterServiceVersionSpec.spec.release of type string';
    return [error({ place, message, fix: 'put the release in quotes' })];
  }
  const name = annotationsOf(bundle)[`${annotationPrefix}package.v1`] ?? '';
  const expected = `${name}-v${stringAt(spec, 'version') ?? ''}-${release}`;
  return [
    ...(csvName === expected
      ? []
      : [
          error({
            place: placeOf(csv, 'metadata', 'name'),
            message: `bundle name with release versioning "${csvName}" does not match expected name "${expected}"`,
            fix: 'rename it, or remove spec.release',
          }),
        ]),
    ...(stringAt(csv.object.metadata.annotations, 'olm.substitutesFor') === undefined
      ? []
      : [
          error({
            place,
            message: 'spec.release cannot be combined with the annotation olm.substitutesFor',
            fix: 'keep one of them',
          }),
        ]),
  ];
}
