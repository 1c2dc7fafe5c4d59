import type { Budget } from '../../../resolver/budget.ts';
import type { Deprecation, PackageContent } from '../../../resolver/candidates/index.ts';
import {
  limitFailure,
  type PackageRequest,
  type PackageResolution,
  resolvePackage,
  type Surroundings,
} from '../../../resolver/olm1/index.ts';

export interface PackageQuestion {
  readonly request: PackageRequest;
  readonly surroundings: Omit<Surroundings, 'budget'>;
  /** The answer tells whether the package has a bundle of this image. */
  readonly image?: string | undefined;
}

export interface PackageAnswer {
  readonly resolution: PackageResolution;
  /** Names of the packages that were read. */
  readonly packages: readonly string[];
  /** Why the content of a package in a catalog could not be read. */
  readonly problems: readonly string[];
  /** Names of catalogs of which the disk could not be read. */
  readonly unreadable: readonly string[];
  /** Of the requested package. */
  readonly deprecations: readonly DeprecationsOfCatalog[];
  /** Whether the package has a bundle of the image in the question. */
  readonly hasImage: boolean;
  /** Another attempt may have another answer: the process was too slow, or out of memory. */
  readonly isWorthRetry: boolean;
}

export interface DeprecationsOfCatalog {
  readonly catalog: string;
  readonly deprecations: readonly Deprecation[];
}

/** What one catalog has of a package, or why that cannot be read. */
export type PackageOfCatalog =
  | { readonly catalog: { readonly name: string }; readonly content: PackageContent }
  | {
      readonly catalog: { readonly name: string };
      readonly problem: string;
      readonly isUnreadable?: true;
    };

export type FindPackage = (name: string) => Promise<readonly PackageOfCatalog[]>;

/** Resolves again as long as the resolution asks for packages that are not loaded, within one budget. */
export async function answerFrom(
  find: FindPackage,
  { request, surroundings, image }: PackageQuestion,
  budget: Budget,
): Promise<PackageAnswer> {
  const library = new PackageLibrary(find);
  await library.load([request.packageName]);
  for (;;) {
    const amidst: Surroundings = {
      // The list of most resolutions is never read.
      get present() {
        return surroundings.present;
      },
      unavailable: surroundings.unavailable,
      budget,
    };
    const resolution = resolvePackage(request, library, amidst);
    if (await library.loadMissing()) continue;
    const contents = library.of(request.packageName);
    return {
      resolution,
      packages: library.packages,
      problems: library.problems,
      unreadable: library.unreadable,
      deprecations: contents.map(({ catalog, deprecations }) => ({
        catalog: catalog.name,
        deprecations,
      })),
      hasImage: contents.some(({ bundles }) => bundles.some((bundle) => bundle.image === image)),
      isWorthRetry: false,
    };
  }
}

/** The answer where a limit ends a resolution: it `takes more than 4 s`. */
export function limitAnswer(request: PackageRequest, what: string): PackageAnswer {
  const resolution = limitFailure(request, what);
  const found = { packages: [request.packageName], problems: [], unreadable: [], deprecations: [] };
  return { resolution, ...found, hasImage: false, isWorthRetry: false };
}

/** What catalogs have of the packages that a resolution reads. */
class PackageLibrary {
  readonly problems: string[] = [];
  readonly unreadable: string[] = [];
  readonly #find: FindPackage;
  readonly #packages = new Map<string, readonly PackageContent[]>();
  readonly #missing = new Set<string>();

  constructor(find: FindPackage) {
    this.#find = find;
  }

  get packages(): readonly string[] {
    return [...this.#packages.keys()];
  }

  of(name: string): readonly PackageContent[] {
    const found = this.#packages.get(name);
    if (found === undefined) this.#missing.add(name);
    return found ?? [];
  }

  /** Whether there were any. */
  async loadMissing(): Promise<boolean> {
    const missing = [...this.#missing];
    this.#missing.clear();
    await this.load(missing);
    return missing.length > 0;
  }

  async load(names: Iterable<string>): Promise<void> {
    for (const name of names) {
      const found = await this.#find(name);
      const whole = found.flatMap((each) => ('content' in each ? [each.content] : []));
      this.#packages.set(name, whole);
      for (const each of found) {
        if ('problem' in each) {
          this.problems.push(
            `error getting package "${name}" from catalog "${each.catalog.name}": ${each.problem}`,
          );
          if (each.isUnreadable === true) this.unreadable.push(each.catalog.name);
        }
      }
    }
  }
}
