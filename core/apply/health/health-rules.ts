import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Resource } from '../../kube/resource.ts';
import { type CustomRule, customRule } from './custom-rule.ts';

interface OwnRules {
  /** What they were made of. */
  readonly source: string;
  readonly byKind: ReadonlyMap<string, CustomRule>;
}

/** The rules that deployments bring along, by owner and kind. */
export class HealthRules {
  readonly #byOwner = new Map<string, OwnRules>();

  /** Takes the rules of a deployment as it is now; true where they are others than before. */
  use({ metadata, spec }: BundleDeployment): boolean {
    const { name = '' } = metadata;
    const rules = spec.health?.rules ?? [];
    const source = JSON.stringify(rules);
    const known = this.#byOwner.get(name);
    if ((known?.source ?? '[]') === source) return false;
    // Of two for one kind the first counts.
    const entries = rules.map((rule, index) => [keyOf(rule), customRule(rule, index)] as const);
    this.#byOwner.set(name, { source, byKind: new Map(entries.toReversed()) });
    return true;
  }

  /** The rule of this owner for a kind; undefined where the built-in one counts. */
  find(owner: string, resource: Pick<Resource, 'group' | 'kind'>): CustomRule | undefined {
    return this.#byOwner.get(owner)?.byKind.get(keyOf(resource));
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner);
  }
}

function keyOf({
  group = '',
  kind,
}: {
  readonly group?: string | undefined;
  readonly kind: string;
}) {
  return `${kind}.${group}`;
}
