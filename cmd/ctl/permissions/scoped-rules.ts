import type { NeededRules } from './needed-rules.ts';
import type { ScopedRule } from './policy-rule.ts';
import { policyRules } from './policy-rules.ts';

export interface ScopedRules {
  readonly rules: readonly ScopedRule[];
  /** What a person should know about them. */
  readonly notes: readonly string[];
}

/**
 * Everything that is needed as rules. In a namespace that comes with the bundle there can be no
 * Role before: what is needed in it is asked for in all, unless it is said to exist.
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
    `namespace "${name}" comes with the bundle, so that no Role can be in it before: what is needed in it is granted in all namespaces. ` +
    `To grant it there alone, create the namespace, have the BundleDeployment adopt it, and say --existing-namespace=${name}`
  );
}
