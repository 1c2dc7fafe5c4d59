import type { HealthRule } from '../../../../api/v1alpha1/deployment-policies.ts';
import type { Resource } from '../../../platform/kube/index.ts';

/** Which of a deployment's rules is for a kind; of two for one kind the first counts. */
export class RulesByKind {
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(rules: readonly HealthRule[]) {
    const entries = rules.map(
      ({ group = '', kind }, index) => [`${kind}.${group}`, index] as const,
    );
    this.#indexes = new Map(entries.toReversed());
  }

  /** The index of the rule; undefined where the built-in one counts. */
  find({ group, kind }: Pick<Resource, 'group' | 'kind'>): number | undefined {
    return this.#indexes.get(`${kind}.${group}`);
  }
}
