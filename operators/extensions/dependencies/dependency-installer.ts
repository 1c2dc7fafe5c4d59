import { isDeepStrictEqual } from 'node:util';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import type { Clock, ReconcileResult } from '../../../core/controller.ts';
import type { CatalogContents } from '../../catalogs/index.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice, ResolvedChoice } from '../findings.ts';
import { dependencyAdvice } from '../status/dependency-condition.ts';
import type { Admission, DependencyGate } from './dependency-gate.ts';
import { OperatorWriter, type OperatorWriterOptions } from './operator-writer.ts';
import { type Outcome, outcomesOf } from './outcomes.ts';
import { ProviderLibrary } from './packages/provider-library.ts';
import { type Plan, planDependencies } from './plan.ts';
import { Requirers } from './requirers.ts';
import { type WorldSources, worldOf } from './world.ts';

export interface DependencyInstallerOptions extends WorldSources, OperatorWriterOptions {
  readonly operators: OperatorWriterOptions['operators'];
  readonly extensions: WorldSources['extensions'];
  readonly contents: CatalogContents;
  readonly clock: Clock;
  /** Something has happened that `reconcile` looks at. */
  readonly onNews: () => void;
  /** An Operator of this name has to be reconciled. */
  readonly wake: (name: string) => void;
}

/** Milliseconds: a resolution that takes longer delays no other Operator. */
const longestPatience = 10_000;

const admitted: Admission = { state: 'admitted', condition: undefined };

/**
 * Makes Operators for the packages that Operators require, and deletes them when nothing needs them
 * any more. Looks at all objects at once: what one package gets depends on all that require it.
 */
export class DependencyInstaller implements DependencyGate {
  readonly #options: DependencyInstallerOptions;
  readonly #requirers = new Requirers();
  readonly #library: ProviderLibrary;
  readonly #writer: OperatorWriter;
  #incompleteSince: number | undefined;
  #outcomes: ReadonlyMap<string, Outcome> = new Map();

  constructor(options: DependencyInstallerOptions) {
    this.#options = options;
    this.#writer = new OperatorWriter(options);
    this.#library = new ProviderLibrary(options.contents);
    options.contents.onChange(({ catalog, packages }) => {
      if (catalog.kind !== options.operatorKind.catalogKind) return;
      this.#library.forget(packages);
      options.onNews();
    });
  }

  admit(extension: Extension, choice: Choice | undefined, installation: Installation): Admission {
    const resolved = choice?.kind === 'resolved' ? choice : undefined;
    if (this.#requirers.note(extension, choice, installation)) this.#options.onNews();
    if (extension.object.kind !== operatorResource.kind) return this.#advise(extension, resolved);
    if (resolved === undefined || resolved.dependencies.length === 0) return admitted;
    const outcome = this.#outcomes.get(extension.name);
    if (outcome?.image !== resolved.bundle.image) return { state: 'judging', condition: undefined };
    return { state: outcome.isHeld ? 'held' : 'admitted', condition: outcome.condition };
  }

  forget(extension: string): void {
    const [kind, name = ''] = extension.split('/');
    const claimant = kind === operatorResource.kind ? name : extension;
    if (this.#requirers.forget(claimant)) this.#options.onNews();
  }

  /** Makes all Operators as they are to be. A rejection requests a retry with back-off. */
  async reconcile(signal: AbortSignal): Promise<ReconcileResult> {
    const errors = [...(await this.#writer.release(signal))];
    const requeueAfter = this.#patience();
    if (requeueAfter > 0) return { requeueAfter };
    const plan = await planDependencies(worldOf(this.#options), this.#requirers, this.#library);
    const unwritten = new Set<string>();
    for (const wanted of plan.wanted) {
      const isWritten = await this.#writer.make(wanted, signal).catch((error: unknown) => {
        errors.push(error);
        return false;
      });
      if (!isWritten) unwritten.add(wanted.packageName);
    }
    // Only now: what does not name an Operator yet is deleted with the others that require it.
    this.#publish(plan, unwritten);
    for (const object of plan.unneeded) {
      await this.#writer.remove(object, signal).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
    return {};
  }

  /**
   * Milliseconds to wait for objects whose requirements are not known: one of them could need
   * another version.
   */
  #patience(): number {
    if (this.#isComplete()) {
      this.#incompleteSince = undefined;
      return 0;
    }
    const now = this.#options.clock.monotonic();
    this.#incompleteSince ??= now;
    return this.#incompleteSince + longestPatience - now;
  }

  #isComplete(): boolean {
    const { operators, extensions } = this.#options;
    return [...operators.list(), ...extensions.list()].every((object) => {
      const { uid, deletionTimestamp } = object.metadata;
      const known = this.#requirers.get(object);
      return deletionTimestamp !== undefined || known?.object.metadata.uid === uid;
    });
  }

  #publish(plan: Plan, unwritten: ReadonlySet<string>): void {
    const { operators, wake } = this.#options;
    const before = this.#outcomes;
    this.#outcomes = outcomesOf(plan, {
      operator: (name) => operators.get({ name }),
      failure: (name) => this.#writer.failure(name),
      unwritten,
    });
    for (const [name, outcome] of this.#outcomes) {
      if (!isDeepStrictEqual(before.get(name), outcome)) wake(name);
    }
  }

  /** Nothing is installed for a ClusterExtension: its ServiceAccount may have fewer permissions. */
  #advise(extension: Extension, choice: ResolvedChoice | undefined): Admission {
    if (choice === undefined) return admitted;
    const condition = dependencyAdvice(choice, ({ property }) =>
      this.#library.namesFor(property, extension.usesCatalog),
    );
    return { state: 'admitted', condition };
  }
}
