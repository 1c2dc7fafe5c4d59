import { isDeepStrictEqual } from 'node:util';
import { goQuote } from '../../../api/go-quote.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import {
  type Clock,
  errorMessage,
  type IndexedCache,
  isConflict,
  isNotFound,
  type KubeClient,
  type ReconcileResult,
} from '../../../core/controller.ts';
import { shortList } from '../../../core/short-list.ts';
import type { CatalogContents } from '../../catalogs/index.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice, ResolvedChoice } from '../findings.ts';
import { dependencyAdvice } from '../status/dependency-condition.ts';
import type { EventSink } from '../status/news.ts';
import type { Admission, DependencyGate } from './dependency-gate.ts';
import {
  dependencyManager,
  isAsWanted,
  isMade,
  isMarked,
  madeOperator,
  ownersOf,
  releasePatch,
  type WantedOperator,
} from './made-operator.ts';
import { type Outcome, outcomesOf } from './outcomes.ts';
import { ProviderLibrary } from './packages/provider-library.ts';
import { type Plan, planDependencies } from './plan.ts';
import { Requirers } from './requirers.ts';
import { type WorldSources, worldOf } from './world.ts';

export interface DependencyInstallerOptions extends WorldSources {
  readonly client: Pick<KubeClient, 'apply' | 'patch' | 'delete'>;
  readonly operators: Pick<IndexedCache, 'get' | 'list' | 'upsertIfNewer'>;
  readonly contents: CatalogContents;
  readonly events: EventSink;
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
 * any more. Looks at all Operators at once: what one package gets depends on all that require it.
 */
export class DependencyInstaller implements DependencyGate {
  readonly #options: DependencyInstallerOptions;
  readonly #requirers = new Requirers();
  readonly #library: ProviderLibrary;
  readonly #failures = new Map<string, string>();
  #incompleteSince: number | undefined;
  #outcomes: ReadonlyMap<string, Outcome> = new Map();

  constructor(options: DependencyInstallerOptions) {
    this.#options = options;
    this.#library = new ProviderLibrary(options.contents);
    options.contents.onChange(({ catalog }) => {
      if (catalog.kind !== options.operatorKind.catalogKind) return;
      this.#library.forget();
      options.onNews();
    });
  }

  admit(extension: Extension, choice: Choice | undefined, installation: Installation): Admission {
    const resolved = choice?.kind === 'resolved' ? choice : undefined;
    if (extension.object.kind !== operatorResource.kind) return this.#advise(extension, resolved);
    if (this.#requirers.note(extension, choice, installation)) this.#options.onNews();
    if (resolved === undefined || resolved.dependencies.length === 0) return admitted;
    const outcome = this.#outcomes.get(extension.name);
    if (outcome?.image !== resolved.bundle.image) return { state: 'judging', condition: undefined };
    return { state: outcome.isHeld ? 'held' : 'admitted', condition: outcome.condition };
  }

  forget(extension: string): void {
    const [kind, name = ''] = extension.split('/');
    if (kind === operatorResource.kind && this.#requirers.forget(name)) this.#options.onNews();
  }

  /** Makes all Operators as they are to be. A rejection requests a retry with back-off. */
  async reconcile(signal: AbortSignal): Promise<ReconcileResult> {
    await this.#release(signal);
    const requeueAfter = this.#patience();
    if (requeueAfter > 0) return { requeueAfter };
    const world = worldOf(this.#options, (name) => this.#failures.get(name));
    const plan = await planDependencies(world, this.#requirers, this.#library);
    this.#publish(plan);
    const errors: unknown[] = [];
    for (const wanted of plan.wanted) {
      await this.#make(wanted, signal).catch((error: unknown) => errors.push(error));
    }
    for (const object of plan.unneeded) {
      await this.#remove(object, signal).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
    return {};
  }

  /**
   * Milliseconds to wait for Operators whose requirements are not known: one of them could need
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
    return this.#options.operators.list().every(({ metadata }) => {
      const known = this.#requirers.get(metadata.name ?? '');
      return (
        metadata.deletionTimestamp !== undefined || known?.object.metadata.uid === metadata.uid
      );
    });
  }

  #publish(plan: Plan): void {
    const { operators, wake } = this.#options;
    const before = this.#outcomes;
    this.#outcomes = outcomesOf(plan, (name) => operators.get({ name }));
    for (const [name, outcome] of this.#outcomes) {
      if (!isDeepStrictEqual(before.get(name), outcome)) wake(name);
    }
  }

  async #make(wanted: WantedOperator, signal: AbortSignal): Promise<void> {
    const { client, operators, events } = this.#options;
    const { packageName: name, version, claims, owners } = wanted;
    const live = operators.get({ name });
    if (live !== undefined && isAsWanted(live, wanted)) return;
    const object = madeOperator(wanted, live);
    const resourceVersion = live?.metadata.resourceVersion;
    const metadata = {
      ...object.metadata,
      // Whatever a user has changed since is seen first.
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    try {
      const options = { fieldManager: dependencyManager, force: live !== undefined, signal };
      const applied = await client.apply(operatorResource, { ...object, metadata }, options);
      operators.upsertIfNewer(applied);
      this.#failures.delete(name);
    } catch (error) {
      if (isConflict(error)) return;
      this.#failures.set(name, `Operator ${goQuote(name)} was not written: ${errorMessage(error)}`);
      throw error;
    }
    if (live !== undefined) return;
    const requirers = shortList(
      claims.map(({ operator }) => goQuote(operator)),
      5,
    );
    const message = `Created Operator ${goQuote(name)} with version ${version}: required by ${requirers}`;
    for (const owner of owners) {
      events.event(owner, { type: 'Normal', reason: 'DependencyCreated', message });
    }
  }

  async #remove(object: KubernetesObject, signal: AbortSignal): Promise<void> {
    const { client, events, operators } = this.#options;
    const { name = '', uid = '', resourceVersion = '' } = object.metadata;
    const options = { uid, resourceVersion, propagationPolicy: 'Background', signal } as const;
    try {
      await client.delete(operatorResource, { name }, options);
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return;
      throw error;
    }
    const message = `Deleted Operator ${goQuote(name)}: nothing that is installed requires it any more`;
    for (const { uid: owner } of ownersOf(object)) {
      const found = operators.list().find(({ metadata }) => metadata.uid === owner);
      if (found === undefined) continue;
      events.event(found, { type: 'Normal', reason: 'DependencyDeleted', message });
    }
  }

  /** Operators that users have taken over lose what is left of the marks. */
  async #release(signal: AbortSignal): Promise<void> {
    const { client, operators, events } = this.#options;
    for (const object of operators.list()) {
      const { name = '', deletionTimestamp } = object.metadata;
      if (deletionTimestamp !== undefined || !isMarked(object) || isMade(object)) continue;
      const target = { resource: operatorResource, key: { name } };
      try {
        const after = await client.patch(target, releasePatch(object), { type: 'json', signal });
        operators.upsertIfNewer(after);
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) continue;
        throw error;
      }
      const message =
        'A user has taken over this Operator: it stays when nothing requires it any more';
      events.event(object, { type: 'Normal', reason: 'DependencyReleased', message });
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
