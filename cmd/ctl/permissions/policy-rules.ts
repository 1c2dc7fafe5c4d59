import type { Permission } from '../../../core/apply/index.ts';
import type { PolicyRule, ScopedRule } from './policy-rule.ts';

/** As few rules as say the same: kinds share one where verbs are the same, and so do names. */
export function policyRules(permissions: readonly Permission[]): readonly ScopedRule[] {
  return [...Map.groupBy(permissions, ({ namespace }) => namespace)].flatMap(([namespace, own]) =>
    rulesOf(own).map((rule) => ({ namespace, rule })),
  );
}

function rulesOf(permissions: readonly Permission[]): readonly PolicyRule[] {
  const forAll = permissions.filter(({ name }) => name === undefined);
  const forOne = permissions.filter(({ name }) => name !== undefined);
  return [...rulesForAll(forAll), ...rulesForNames(forOne)];
}

function rulesForAll(permissions: readonly Permission[]): readonly PolicyRule[] {
  const kinds = [...Map.groupBy(permissions, kindOf)].map(([, own]) => ({
    group: own[0]?.group ?? '',
    resource: own[0]?.resource ?? '',
    verbs: verbsOf(own),
  }));
  const alike = Map.groupBy(kinds, ({ group, verbs }) => [group, ...verbs].join('|'));
  return [...alike.values()].map((same) => ({
    apiGroups: [same[0]?.group ?? ''],
    resources: sorted(same.map(({ resource }) => resource)),
    verbs: same[0]?.verbs ?? [],
  }));
}

function rulesForNames(permissions: readonly Permission[]): readonly PolicyRule[] {
  return [...Map.groupBy(permissions, kindOf).values()].flatMap((ofKind) => {
    const objects = [...Map.groupBy(ofKind, ({ name }) => name)].map(([name = '', own]) => ({
      name,
      verbs: verbsOf(own),
    }));
    const alike = Map.groupBy(objects, ({ verbs }) => verbs.join('|'));
    return [...alike.values()].map((same) => ({
      apiGroups: [ofKind[0]?.group ?? ''],
      resources: [ofKind[0]?.resource ?? ''],
      resourceNames: sorted(same.map(({ name }) => name)),
      verbs: same[0]?.verbs ?? [],
    }));
  });
}

function kindOf({ group, resource }: Permission): string {
  return `${group}|${resource}`;
}

function verbsOf(permissions: readonly Permission[]): string[] {
  return sorted(permissions.map(({ verb }) => verb));
}

function sorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted();
}
