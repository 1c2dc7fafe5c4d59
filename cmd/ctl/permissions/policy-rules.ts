import { missingPermissions, type Permission } from '../../../core/apply/index.ts';
import type { KubeClient } from '../../../core/platform/kube/index.ts';
import type { NeededRules, PolicyRule, ScopedRule } from './needed-rules.ts';

interface ScopedRules {
  readonly rules: readonly ScopedRule[];
  /** Notes for the user about the rules. */
  readonly notes: readonly string[];
}

/**
 * All needed permissions as rules. A namespace that comes with the bundle cannot contain a Role
 * before: permissions in it are needed for all namespaces, unless it is listed as existing.
 */
export function scopedRules(needed: NeededRules, existing: readonly string[]): ScopedRules {
  const { permissions, escalation, ownNamespaces } = needed;
  const fresh = new Set(ownNamespaces.filter((name) => !existing.includes(name)));
  function placed<T extends { readonly namespace?: string | undefined }>(each: T): T {
    return fresh.has(each.namespace ?? '') ? { ...each, namespace: undefined } : each;
  }
  const rules = [...policyRules(permissions.map(placed)), ...escalation.map(placed)];
  const used = [...permissions, ...escalation].map(({ namespace }) => namespace ?? '');
  return { rules, notes: [...fresh].filter((name) => used.includes(name)).map(note) };
}

function note(name: string): string {
  return (
    `namespace "${name}" comes with the bundle, so that no Role can exist in it before: permissions in it are granted in all namespaces. ` +
    `To grant them only there, create the namespace, let the BundleDeployment adopt it, and pass --existing-namespace=${name}`
  );
}

/** Merges permissions into few rules: kinds with equal verbs share one, and so do names. */
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

type Client = Pick<KubeClient, 'request'>;

/** The rules of which the client's identity lacks a part. */
export async function missingRules(
  client: Client,
  rules: readonly ScopedRule[],
  signal: AbortSignal,
): Promise<readonly ScopedRule[]> {
  const missing: ScopedRule[] = [];
  for (const scoped of rules) {
    const lacking = await missingPermissions(client, expanded(scoped), signal);
    if (lacking.length > 0) missing.push(scoped);
  }
  return missing;
}

/** Every permission of a rule, one by one. Only a wildcard grants a wildcard. */
function expanded({ namespace, rule }: ScopedRule): readonly Permission[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs } = rule;
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((path) => ({ verb, group: '', resource: '', path })),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        namesOf(resourceNames).map((name) => ({ verb, group, resource, namespace, name })),
      ),
    ),
  ]);
}

function namesOf(names: readonly string[]): readonly (string | undefined)[] {
  return names.length === 0 ? [undefined] : names;
}
