import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { creatorOf } from '../../../api/v1alpha1/rules/creator.ts';
import type { Resource } from '../../platform/kube/index.ts';
import {
  type OwnRules,
  OwnVerdicts,
  RulesByKind,
  type VerdictOptions,
} from '../health/rules/own-verdicts.ts';
import type { CustomRule } from '../health/status.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { AppliedRecord } from '../state/applied-record.ts';
import type { OwnerStates } from '../state/owner-states.ts';

export interface HealthRulesOptions extends VerdictOptions {
  readonly owners: OwnerStates;
}

/**
 * The rules of spec.health, by owner and kind. Worker processes evaluate them; this class answers
 * at once with the last verdicts.
 */
export class HealthRules {
  readonly #options: HealthRulesOptions;

  constructor(options: HealthRulesOptions) {
    this.#options = options;
  }

  /** Takes the present rules of a deployment; true when they differ from its earlier ones. */
  use(deployment: BundleDeployment): boolean {
    const { metadata, spec } = deployment;
    const { name: owner = '' } = metadata;
    const creator = creatorOf(deployment);
    const rules = spec.health?.rules ?? [];
    const source = JSON.stringify(rules);
    const state = this.#options.owners.of(owner);
    if ((state.rules?.source ?? '[]') === source) {
      state.rules?.verdicts.changeCreator(creator);
      return false;
    }
    state.rules?.verdicts.end();
    const verdicts = new OwnVerdicts({ ...this.#options, owner, creator, rules });
    state.rules = { source, byKind: new RulesByKind(rules), verdicts };
    return true;
  }

  /** Whether the owner has a rule for a kind; otherwise the built-in rule applies. */
  has(owner: string, resource: Resource): boolean {
    return this.#of(owner)?.byKind.find(resource) !== undefined;
  }

  /**
   * The verdict of the owner's rule about an object; undefined when it has no rule for the kind.
   */
  find(record: AppliedRecord, entry: InventoryEntry): CustomRule | undefined {
    const own = this.#of(record.owner);
    const rule = own?.byKind.find(record.resource);
    if (own === undefined || rule === undefined) return undefined;
    return () => own.verdicts.status(rule, record, entry);
  }

  #of(owner: string): OwnRules | undefined {
    return this.#options.owners.find(owner)?.rules;
  }
}
