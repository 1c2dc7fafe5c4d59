import { goQuote } from '../../../api/go-quote.ts';
import { TerminalError } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import type { BundleOutline, PackageOutline } from '../catalog-outline.ts';
import type { Requirement } from '../requirement.ts';
import { KeptPackage } from './kept-package.ts';
import { PreferredEntries, type PreferredEntry } from './preferred-entries.ts';

/** Maximum comparisons of requirements with bundles; real catalogs need some ten thousand. */
const mostComparisons = 10_000_000;

/**
 * Adds the dependencies of kept bundles to the kept packages, transitively. A requirement that a
 * kept bundle meets adds nothing; otherwise, each package that meets it adds one bundle, the one
 * that OLM's resolver prefers.
 */
export class Dependencies {
  readonly #outline: ReadonlyMap<string, PackageOutline>;
  readonly #kept: Map<string, KeptPackage>;
  readonly #preferred: PreferredEntries;
  readonly #providers = new Map<string, Set<string>>();
  readonly #visited = new Set<BundleOutline>();
  readonly #decided = new Set<Requirement>();
  readonly #notes: string[] = [];
  #comparisons = 0;

  constructor(outline: ReadonlyMap<string, PackageOutline>, kept: Map<string, KeptPackage>) {
    this.#outline = outline;
    this.#kept = kept;
    this.#preferred = new PreferredEntries((requirement, bundle) =>
      this.#verdict(requirement, bundle),
    );
    for (const { name, bundles } of outline.values()) {
      for (const { provides } of bundles.values()) {
        for (const provider of provides) {
          const names = this.#providers.get(provider) ?? new Set();
          this.#providers.set(provider, names.add(name));
        }
      }
    }
  }

  /** Adds all dependencies. Returns sentences about added bundles and unmet requirements. */
  add(): readonly string[] {
    for (;;) {
      const open = this.#openRequirements();
      if (open.size === 0) return this.#notes;
      for (const [requirement, bundles] of open) this.#meet(requirement, bundles);
      for (const each of this.#kept.values()) each.connect();
    }
  }

  /** New requirements of kept bundles, with the names of the bundles that have them. */
  #openRequirements(): ReadonlyMap<Requirement, readonly string[]> {
    const open = new Map<Requirement, string[]>();
    for (const bundle of [...this.#kept.values()].flatMap((each) => [...each.bundles()])) {
      if (this.#visited.has(bundle)) continue;
      this.#visited.add(bundle);
      for (const requirement of bundle.requires) {
        if (this.#decided.has(requirement)) continue;
        const names = open.get(requirement) ?? [];
        names.push(bundle.name);
        open.set(requirement, names);
      }
    }
    return open;
  }

  #meet(requirement: Requirement, requiring: readonly string[]): void {
    this.#decided.add(requirement);
    const packages = this.#candidates(requirement);
    if (this.#isMet(requirement, packages)) return;
    const found = packages.flatMap((outline) => {
      const kept = this.#kept.get(outline.name);
      return this.#preferred.of(outline, { requirement, kept: kept?.channels }) ?? [];
    });
    const certain = found.filter(({ isCertain }) => isCertain);
    const who = `${shortList(requiring, 3)} ${requiring.length === 1 ? 'requires' : 'require'}`;
    const added = certain.length > 0 ? certain : found;
    for (const entry of added) this.#want(entry, `${who} ${requirement.text}`);
    if (added.length > 0) return;
    this.#notes.push(`${who} ${requirement.text}: the catalog has no bundle that meets this`);
  }

  #want({ outline, channel, name, isCertain }: PreferredEntry, reason: string): void {
    const kept = this.#kept.get(outline.name) ?? new KeptPackage(outline);
    this.#kept.set(outline.name, kept);
    kept.want(channel, [name]);
    const doubt = isCertain ? '' : ', and this bundle may meet it';
    const place = `package ${goQuote(outline.name)}, channel ${goQuote(channel)}`;
    this.#notes.push(`${place}: kept ${name}, since ${reason}${doubt}`);
  }

  #candidates({ providers }: Requirement): readonly PackageOutline[] {
    if (providers === undefined) return [...this.#outline.values()];
    const names = new Set([...providers].flatMap((each) => [...(this.#providers.get(each) ?? [])]));
    return [...names].flatMap((name) => this.#outline.get(name) ?? []);
  }

  #isMet(requirement: Requirement, packages: readonly PackageOutline[]): boolean {
    return packages.some(({ name }) => {
      for (const bundle of this.#kept.get(name)?.bundles() ?? []) {
        if (this.#verdict(requirement, bundle) === true) return true;
      }
      return false;
    });
  }

  #verdict(requirement: Requirement, bundle: BundleOutline): boolean | undefined {
    this.#comparisons += 1;
    if (this.#comparisons <= mostComparisons) return requirement.verdict(bundle);
    throw new TerminalError(
      `the dependencies of the catalog need more than ${mostComparisons} comparisons: prune it without them`,
    );
  }
}
