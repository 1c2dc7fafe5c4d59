import { missingPermissions, type Permission } from '../../../core/apply/index.ts';
import type { KubeClient } from '../../../core/platform/kube/index.ts';
import type { ScopedRule } from './policy-rule.ts';

type Client = Pick<KubeClient, 'request'>;

/** Those rules that the client's identity does not have in full. */
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

/** Everything that a rule grants, one by one. A wildcard is granted by a wildcard alone. */
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
