import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import { type Check, type LocatedObject, placeOf } from '../bundle-content.ts';
import { error, type Finding } from '../problem.ts';
import { crdNameFindings, nameProblems } from './kube-names.ts';

/**
 * Errors of the API server for CRDs, as far as they can be found without it: names, group, scope,
 * versions and the approval of protected groups. Does not check the content of schemas, CEL rules
 * or conversion webhooks.
 */
export const crd: Check = {
  name: 'crd',
  summary: "CustomResourceDefinitions by the API server's rules",
  optional: false,
  blocking: true,
  find: ({ crds }) =>
    crds
      .filter(({ object }) => object.apiVersion === 'apiextensions.k8s.io/v1')
      .flatMap((found) => rules.flatMap((rule) => rule(found))),
};

const rules: readonly ((crd: LocatedObject) => readonly Finding[])[] = [
  crdNameFindings,
  scope,
  crdVersionFindings,
  approval,
  unknownFields,
];

const scopes = ['Cluster', 'Namespaced'];

function scope(found: LocatedObject): readonly Finding[] {
  const written = stringAt(found.object['spec'], 'scope') ?? '';
  if (scopes.includes(written)) return [];
  const supported = scopes.map((each) => `"${each}"`).join(', ');
  const message =
    written === ''
      ? 'spec.scope: Required value'
      : `spec.scope: Unsupported value: "${written}": supported values: ${supported}`;
  return [
    error({
      place: placeOf(found, 'spec', 'scope'),
      message,
      fix: 'set it to Namespaced or Cluster',
    }),
  ];
}

function unknownFields(found: LocatedObject): readonly Finding[] {
  if (fieldAt(found.object['spec'], 'preserveUnknownFields') !== true) return [];
  return [
    error({
      place: placeOf(found, 'spec', 'preserveUnknownFields'),
      message:
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      fix: 'remove it, and set x-kubernetes-preserve-unknown-fields where fields are to be kept',
    }),
  ];
}

const approvalKey = 'api-approved.kubernetes.io';

function approval(found: LocatedObject): readonly Finding[] {
  const group = stringAt(found.object['spec'], 'group') ?? '';
  if (!/(?:^|\.)k(?:8s|ubernetes)\.io$/.test(group)) return [];
  const value = stringAt(found.object.metadata.annotations, approvalKey) ?? '';
  if (value.startsWith('unapproved') || isAddress(value)) return [];
  const place = placeOf(found, 'metadata', 'annotations', approvalKey);
  const more = 'see https://github.com/kubernetes/enhancements/pull/1111';
  const message =
    value === ''
      ? `metadata.annotations[${approvalKey}]: Required value: protected groups must have approval annotation "${approvalKey}", ${more}`
      : `metadata.annotations[${approvalKey}]: Invalid value: "${value}": protected groups must have approval annotation "${approvalKey}" with either a URL or a reason starting with "unapproved", ${more}`;
  return [
    error({
      place,
      message,
      fix: `use a group of your own, or say in the annotation who approved ${group}`,
    }),
  ];
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.host !== '';
}

/** A CRD must have versions with unique names and a schema each, one of them stored. */
function crdVersionFindings(crd: LocatedObject): readonly Finding[] {
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
      message:
        'spec.versions: Invalid value: []: must have exactly one version marked as storage version',
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
