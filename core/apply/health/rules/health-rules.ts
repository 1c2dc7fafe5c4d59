import type { BundleDeployment } from '../../../../api/v1alpha1/bundle-deployment.ts';
import type { Resource } from '../../../platform/kube/index.ts';
import type { AppliedRecord } from '../../inventory/applied-records.ts';
import type { InventoryEntry } from '../../inventory/inventory.ts';
import type { CustomRule } from '../status.ts';
import { OwnVerdicts, type VerdictOptions } from './own-verdicts.ts';
import { RulesByKind } from './rules-by-kind.ts';

interface OwnRules {
  /** What they were made of. */
  readonly source: string;
  readonly byKind: RulesByKind;
  readonly verdicts: OwnVerdicts;
}

/**
 * The rules that deployments bring along, by owner and kind. They are evaluated elsewhere: what is
 * asked here is answered at once, by what is known of it.
 */
export class HealthRules {
  readonly #options: VerdictOptions;
  readonly #byOwner = new Map<string, OwnRules>();

  constructor(options: VerdictOptions) {
    this.#options = options;
  }

  /** Takes the rules of a deployment as it is now; true where they are others than before. */
  use({ metadata, spec }: BundleDeployment): boolean {
    const { name: owner = '' } = metadata;
    const rules = spec.health?.rules ?? [];
    const source = JSON.stringify(rules);
    const known = this.#byOwner.get(owner);
    if ((known?.source ?? '[]') === source) return false;
    known?.verdicts.end();
    const verdicts = new OwnVerdicts({ ...this.#options, owner, rules });
    this.#byOwner.set(owner, { source, byKind: new RulesByKind(rules), verdicts });
    return true;
  }

  /** Whether the owner has a rule for a kind; else the built-in one counts. */
  has(owner: string, resource: Resource): boolean {
    return this.#byOwner.get(owner)?.byKind.find(resource) !== undefined;
  }

  /** What the owner's rule says of an object; undefined where it has none for the kind. */
  find(record: AppliedRecord, entry: InventoryEntry): CustomRule | undefined {
    const own = this.#byOwner.get(record.owner);
    const rule = own?.byKind.find(record.resource);
    if (own === undefined || rule === undefined) return undefined;
    return () => own.verdicts.status(rule, record, entry);
  }

  /** The one message of all objects of an owner that its rules have not judged. */
  commonProblem(owner: string): string | undefined {
    return this.#byOwner.get(owner)?.verdicts.problem;
  }

  /** Forgets what the owner's rules say of other objects. */
  keepOnly(owner: string, ids: ReadonlySet<string>): void {
    this.#byOwner.get(owner)?.verdicts.keepOnly(ids);
  }

  forget(owner: string): void {
    this.#byOwner.get(owner)?.verdicts.end();
    this.#byOwner.delete(owner);
  }
}
