import type { Clock } from '../../../core/controller.ts';
import type { Surroundings } from '../../../resolver/olm1/index.ts';
import type { CatalogContents, ContentChange, PackageResolver } from '../../catalogs/index.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice, ChoiceRequest, Chooser } from '../findings.ts';
import { type Chosen, choose } from './choose.ts';

interface Remembered extends Omit<Chosen, 'isWorthRetry'> {
  readonly question: string;
  readonly revisions: ReadonlyMap<string, number>;
  readonly retry: Retry | undefined;
}

/** Another attempt of a choice that took too much time or memory. */
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
  readonly revision: number;
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

  /** Whether the bundle requires others. */
  dependsOnOthers(id: string): boolean {
    const choice = this.#choices.get(id)?.choice;
    return choice?.kind === 'resolved' && choice.dependencies.length > 0;
  }

  /** Milliseconds until another attempt may choose otherwise; undefined if only a change helps. */
  retryAfter(id: string): number | undefined {
    const retry = this.#choices.get(id)?.retry;
    return retry && Math.max(0, retry.at - this.#parts.clock.monotonic());
  }

  async choose({ extension, installation }: ChoiceRequest, signal: AbortSignal): Promise<Choice> {
    const { id } = extension;
    const known = this.#choices.get(id);
    const question = this.#questionOf(extension, installation, known?.choice);
    if (known?.question === question && this.#isCurrent(known)) return known.choice;
    // Before the packages are read: what changes meanwhile is read again.
    const before = new Map(this.#revisions);
    const { neighbours } = this.#parts;
    const present = () => neighbours.presentBeside(id);
    const place = { ...this.#parts, signal };
    const { isWorthRetry, ...chosen } = await choose({ extension, installation, present }, place);
    const revisions = new Map(chosen.packages.map((name) => [name, before.get(name) ?? 0]));
    const asked = this.#questionOf(extension, installation, chosen.choice);
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
  #questionOf(
    { request, usesCatalog }: Extension,
    { installed }: Installation,
    choice: Choice | undefined,
  ): string {
    const serving = this.#parts.contents.serving().filter(usesCatalog);
    const absent = this.#parts.contents.absent().filter(usesCatalog);
    const depends = choice?.kind === 'resolved' && choice.dependencies.length > 0;
    return JSON.stringify([
      request,
      installed ?? null,
      serving.map(({ name, priority }) => [name, priority]),
      absent.map(({ name, state, problem }) => [name, state, problem]),
      depends || choice?.kind === 'failed' ? this.#parts.neighbours.revision : 0,
    ]);
  }
}
