import { fieldAt, listOf, stringAt } from '../../../../api/json-fields.ts';
import type { LocatedObject } from '../manifest-objects.ts';
import { placeOf } from './bundle-content.ts';
import type { Removal, RemovedUse } from './removed-apis.ts';

const strategy = ['spec', 'install', 'spec'] as const;

/**
 * Rules of the operator about resources that had a version which is removed. They do not name the
 * version, so that this is a mere hint; what the CSV lists as resources of its CRDs is left out.
 */
export function removedInRules(
  { resources }: Removal,
  csv: LocatedObject | undefined,
): readonly RemovedUse[] {
  if (csv === undefined || resources.length === 0) return [];
  const listed = listedResources(csv);
  return (['clusterPermissions', 'permissions'] as const).flatMap((field) =>
    rulesOf(csv, field).flatMap(({ rule, at, index }) =>
      namesIn(rule)
        .filter(
          ({ group, resource }) =>
            resources.includes(`${group}/${resource}`) && !listed.has(resource),
        )
        .map(({ resource }) => ({
          what: resource,
          name: `ClusterServiceVersion.Spec.InstallStrategy.StrategySpec.${goName(field)}[${at}].Rules[${index}]`,
          place: placeOf(csv, ...strategy, field, at, 'rules', index),
        })),
    ),
  );
}

interface PlacedRule {
  readonly rule: unknown;
  readonly at: number;
  readonly index: number;
}

function rulesOf({ object }: LocatedObject, field: string): readonly PlacedRule[] {
  return listOf(fieldAt(object, ...strategy, field)).flatMap((entry, at) =>
    listOf(fieldAt(entry, 'rules')).map((rule, index) => ({ rule, at, index })),
  );
}

function namesIn(rule: unknown): readonly { readonly group: string; readonly resource: string }[] {
  const resources = listOf(fieldAt(rule, 'resources')).filter((each) => typeof each === 'string');
  const groups = listOf(fieldAt(rule, 'apiGroups')).filter((each) => typeof each === 'string');
  return groups.flatMap((group) => resources.map((resource) => ({ group, resource })));
}

function listedResources({ object }: LocatedObject): ReadonlySet<string> {
  const definitions = fieldAt(object['spec'], 'customresourcedefinitions');
  const entries = ['owned', 'required'].flatMap((field) => listOf(fieldAt(definitions, field)));
  const kinds = entries
    .flatMap((entry) => listOf(fieldAt(entry, 'resources')))
    .map((resource) => stringAt(resource, 'kind') ?? '');
  return new Set(kinds.map((kind) => `${kind.toLowerCase()}s`));
}

function goName(field: string): string {
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}
