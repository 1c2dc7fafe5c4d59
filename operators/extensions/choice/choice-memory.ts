import type { Surroundings } from '../../../resolver/olm1/index.ts';
import type { CatalogContents, ContentChange } from '../../catalogs/index.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import type { Choice, Chooser } from '../findings.ts';
import { type Chosen, choose } from './choose.ts';

interface Remembered extends Chosen {
  readonly question: string;
  readonly revisions: ReadonlyMap<string, number>;
}

export interface Surrounding {
  readonly revision: number;
  presentBeside(id: string): Surroundings['present'];
}

/** Chooses bundles, and chooses again only when something has changed that the choice depends on. */
export class ChoiceMemory implements Chooser {
  readonly #contents: CatalogContents;
  readonly #neighbours: Surrounding;
  readonly #choices = new Map<string, Remembered>();
  /** How often a package has changed. */
  readonly #revisions = new Map<string, number>();

  constructor(contents: CatalogContents, neighbours: Surrounding) {
    this.#contents = contents;
    this.#neighbours = neighbours;
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

  async choose(extension: Extension, installation: Installation): Promise<Choice> {
    const { id } = extension;
    const known = this.#choices.get(id);
    const question = this.#questionOf(extension, installation, known?.choice);
    if (known?.question === question && this.#isCurrent(known)) return known.choice;
    // Before the packages are read: what changes meanwhile is read again.
    const before = new Map(this.#revisions);
    const neighbours = this.#neighbours;
    const present = () => neighbours.presentBeside(id);
    const chosen = await choose({ extension, installation, present }, this.#contents);
    const revisions = new Map(chosen.packages.map((name) => [name, before.get(name) ?? 0]));
    const asked = this.#questionOf(extension, installation, chosen.choice);
    this.#choices.set(id, { ...chosen, question: asked, revisions });
    return chosen.choice;
  }

  #isCurrent({ choice, revisions }: Remembered): boolean {
    if (choice.kind === 'pending') return false;
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
    const serving = this.#contents.serving().filter(usesCatalog);
    const absent = this.#contents.absent().filter(usesCatalog);
    const depends = choice?.kind === 'resolved' && choice.dependencies.length > 0;
    return JSON.stringify([
      request,
      installed ?? null,
      serving.map(({ name, priority }) => [name, priority]),
      absent.map(({ name, state, problem }) => [name, state, problem]),
      depends || choice?.kind === 'failed' ? this.#neighbours.revision : 0,
    ]);
  }
}
