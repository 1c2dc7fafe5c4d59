import { goQuote } from '../../../api/go-quote.ts';
import { type Clock, errorMessage } from '../../../core/controller.ts';
import type { Surroundings } from '../../../resolver/olm1/index.ts';
import type { CatalogContents, ContentChange, PackageResolver } from '../../catalogs/index.ts';
import type { Extension } from '../extension.ts';
import type { Choice, ChoiceRequest, Chooser } from '../findings.ts';
import { type Chosen, choose } from './choose.ts';
import { begunUpgrade, bundlesWithoutCatalog } from './kept-bundle.ts';
import { missingCatalog } from './missing-catalog.ts';
import type { Revisions } from './neighbours.ts';

interface Remembered extends Omit<Chosen, 'isWorthRetry'> {
  readonly question: string;
  readonly revisions: ReadonlyMap<string, number>;
  readonly retry: Retry | undefined;
}

/** Another attempt of a choice that took too much time or memory, or failed. */
interface Retry {
  /** Attempts so far. */
  readonly attempts: number;
  /** By the clock's monotonic time. */
  readonly at: number;
}

/** Milliseconds until the second attempt; each later wait is twice as long, up to the last. */
const firstRetry = 60_000;
const lastRetry = 3_600_000;

export interface Surrounding {
  readonly revisions: Revisions;
  presentBeside(id: string): Surroundings['present'];
}

export interface ChoiceParts {
  readonly contents: Pick<CatalogContents, 'serving' | 'absent'>;
  readonly resolver: PackageResolver;
  readonly neighbours: Surrounding;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Chooses bundles, and chooses again only when something has changed that the choice depends on. */
export class ChoiceMemory implements Chooser {
  readonly #parts: ChoiceParts;
  readonly #choices = new Map<string, Remembered>();
  readonly #choosing = new Set<string>();
  /** How often a package has changed. */
  readonly #revisions = new Map<string, number>();

  constructor(parts: ChoiceParts) {
    this.#parts = parts;
  }

  /** Call this before anything is chosen again because of the change. */
  note({ packages }: ContentChange): void {
    for (const name of packages) this.#revisions.set(name, this.#revisionOf(name) + 1);
  }

  forget(id: string): void {
    this.#choices.delete(id);
  }

  /** Whether a change of catalogs, whatever it is, may help the extension. */
  isUnresolved(id: string): boolean {
    return this.#choices.get(id)?.choice.kind !== 'resolved';
  }

  /**
   * Whether the bundle requires something that bundles of the packages may meet, or is not chosen
   * yet.
   */
  dependsOn(id: string, packages: ReadonlySet<string>): boolean {
    if (this.#choosing.has(id)) return true;
    const choice = this.#choices.get(id)?.choice;
    if (choice?.kind !== 'resolved') return false;
    const required = requiredPackages(choice);
    if (required === 'any') return packages.size > 0;
    return required.some((name) => packages.has(name));
  }

  /** Milliseconds until another attempt may choose otherwise; undefined if only a change helps. */
  retryAfter(id: string): number | undefined {
    const retry = this.#choices.get(id)?.retry;
    return retry && Math.max(0, retry.at - this.#parts.clock.monotonic());
  }

  async choose({ extension, installation }: ChoiceRequest, signal: AbortSignal): Promise<Choice> {
    const { id } = extension;
    const known = this.#choices.get(id);
    const { neighbours } = this.#parts;
    // Before anything is read: what changes meanwhile is read again.
    const { revisions: ofNeighbours } = neighbours;
    const question = this.#questionOf({ extension, installation }, known?.choice, ofNeighbours);
    if (known?.question === question && this.#isCurrent(known)) return known.choice;
    const before = new Map(this.#revisions);
    const present = () => neighbours.presentBeside(id);
    const place = { ...this.#parts, signal };
    this.#choosing.add(id);
    const { isWorthRetry, ...chosen } = await choose({ extension, installation, present }, place)
      .catch((error: unknown) => unresolved(extension, error, signal))
      .finally(() => this.#choosing.delete(id));
    const revisions = new Map(chosen.packages.map((name) => [name, before.get(name) ?? 0]));
    const asked = this.#questionOf({ extension, installation }, chosen.choice, ofNeighbours);
    const retry = isWorthRetry ? this.#retryAfter(known) : undefined;
    this.#choices.set(id, { ...chosen, question: asked, revisions, retry });
    return chosen.choice;
  }

  #retryAfter(former: Remembered | undefined): Retry {
    const attempts = (former?.retry?.attempts ?? 0) + 1;
    const wait = Math.min(firstRetry * 2 ** (attempts - 1), lastRetry);
    return { attempts, at: this.#parts.clock.monotonic() + wait };
  }

  #isCurrent({ choice, revisions, retry }: Remembered): boolean {
    if (choice.kind === 'pending') return false;
    if (retry !== undefined && retry.at <= this.#parts.clock.monotonic()) return false;
    return [...revisions].every(([name, revision]) => this.#revisionOf(name) === revision);
  }

  #revisionOf(name: string): number {
    return this.#revisions.get(name) ?? 0;
  }

  /** Everything besides packages that the choice depends on. */
  #questionOf(subject: ChoiceRequest, choice: Choice | undefined, ofNeighbours: Revisions): string {
    const { contents } = this.#parts;
    const { request, usesCatalog } = subject.extension;
    const serving = contents.serving().filter(usesCatalog);
    const absent = contents.absent().filter(usesCatalog);
    return JSON.stringify([
      request,
      subject.installation.installed ?? null,
      bundlesWithoutCatalog(subject, contents),
      begunUpgrade(subject.installation) ?? null,
      missingCatalog(subject.extension, contents) ?? null,
      serving.map(({ name, priority }) => [name, priority]),
      absent.map(({ name, state, problem }) => [name, state, problem]),
      choice === undefined ? [] : revisionsOf(choice, ofNeighbours),
    ]);
  }
}

/**
 * The choice where resolving has failed by no fault of the catalogs, such as a process that the
 * system has killed: the status says so.
 * @throws the reason of the signal
 */
function unresolved({ request }: Extension, error: unknown, signal: AbortSignal): Chosen {
  signal.throwIfAborted();
  const { packageName } = request;
  const message = `error resolving package ${goQuote(packageName)}: ${errorMessage(error)}`;
  const advice = `${message}. The controller retries.`;
  const found = { newest: undefined, deprecations: [] };
  const choice: Choice = { kind: 'failed', reason: 'no-candidates', message, advice, ...found };
  return { choice, packages: [packageName], isWorthRetry: true };
}

function revisionsOf(choice: Choice, { any, ofPackages }: Revisions): readonly number[] {
  const required = requiredPackages(choice);
  return required === 'any' ? [any] : required.map((name) => ofPackages.get(name) ?? 0);
}

/** The packages whose bundles in the cluster a choice depends on. */
function requiredPackages(choice: Choice): readonly string[] | 'any' {
  if (choice.kind !== 'resolved') return 'any';
  const names = choice.dependencies.map((each) => each.package?.name);
  const named = names.filter((name) => name !== undefined);
  return named.length === names.length ? [...new Set(named)].toSorted() : 'any';
}
