import { fieldAt, stringAt } from '../../../../api/json-fields.ts';
import { error, type Finding } from '../finding.ts';
import type { LocatedObject } from '../manifest-objects.ts';
import { placeOf } from './bundle-content.ts';
import { type Check } from './check.ts';
import { crdNameFindings } from './crd-names.ts';
import { crdVersionFindings } from './crd-version-list.ts';

/**
 * What the API server refuses of CRDs, as far as it shows without it: names, group, scope, versions
 * and the approval of protected groups. What is inside of schemas, CEL rules and conversion webhooks
 * is left to it.
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
  unknownFields,
  approval,
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
