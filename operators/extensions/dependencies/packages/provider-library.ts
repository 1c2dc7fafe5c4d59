import { goQuote } from '../../../../api/go-quote.ts';
import { TerminalError } from '../../../../core/controller.ts';
import { Budget, BudgetError } from '../../../../resolver/budget.ts';
import type { Bundle, PackageContent, Property } from '../../../../resolver/candidates/index.ts';
import {
  constraintsOf,
  type GroupVersionKind,
  possiblePackages,
} from '../../../../resolver/constraints/index.ts';
import {
  chooseProvider,
  meetsDemands,
  type PackageContents,
  type ProviderChoice,
  type ProviderRequest,
} from '../../../../resolver/olm1/index.ts';
import { readVersion, versionText } from '../../../../resolver/versions/index.ts';
import type { CatalogContents, CatalogIdentity } from '../../../catalogs/index.ts';

/** The packages of one catalog that may meet a demand, after a look at all of their bundles. */
export interface ProvidersIn {
  readonly catalog: string;
  readonly priority: number;
  readonly packages: readonly string[];
}

/** Packages that are read for one demand; more of them are named, and not read. */
const mostPackages = 20;
const mostAnswers = 10_000;
/** Maximum bytes of a package in all catalogs, which are decoded on the event loop. */
const mostBytes = 256 * 1024;
/** Steps of one answer. What needs more, or has an expression, is left to the user. */
const limits = { steps: 500_000, allowsRules: false };

/** Whether a valid requirement can be judged in this process: without expressions, and fast. */
export function isJudgedHere(demand: Property): boolean {
  try {
    constraintsOf([demand], new Budget(limits));
    return true;
  } catch (error) {
    if (error instanceof BudgetError) return false;
    throw error;
  }
}

/** An answer, and names of the packages that it was read from. */
interface Answer {
  readonly found: unknown;
  readonly packages: ReadonlySet<string>;
}

/**
 * Finds in the catalogs of Operators which packages and versions meet what bundles require. Remembers
 * an answer until a package changes that it was read from: an answer costs a read from disk.
 */
export class ProviderLibrary {
  readonly #contents: CatalogContents;
  readonly #answers = new Map<string, Answer>();
  #revision = 0;

  constructor(contents: CatalogContents) {
    this.#contents = contents;
  }

  /** The packages have changed in a catalog. */
  forget(packages: ReadonlySet<string>): void {
    this.#revision += 1;
    for (const [question, answer] of this.#answers) {
      if (!answer.packages.isDisjointFrom(packages)) this.#answers.delete(question);
    }
  }

  /** Catalogs without content, which a user has not switched off. */
  absent(): readonly string[] {
    const lost = this.#contents.absent().filter(({ state }) => state !== 'Unavailable');
    return lost.filter(isOfOperators).map(({ name }) => name);
  }

  /**
   * Undefined if the demand names neither packages nor APIs.
   * @throws TerminalError if it names too many
   */
  async packagesFor(demand: Property): Promise<readonly ProvidersIn[] | undefined> {
    const named = this.#namesFor(demand, isOfOperators);
    if (named === undefined) return undefined;
    return await this.#once(['packages', demand, named], async (read) => {
      const budget = new Budget(limits);
      const found = new Map<string, ProvidersIn & { packages: string[] }>();
      for (const name of named.slice(0, mostPackages)) {
        for (const { catalog, bundles } of await this.#packagesOf(name, read)) {
          if (
            !bundles.some((each) => meetsDemands({ packageName: name, ...each }, [demand], budget))
          )
            continue;
          const { name: key, priority } = catalog;
          const known = found.get(key) ?? { catalog: key, priority, packages: [] };
          known.packages.push(name);
          found.set(key, known);
        }
      }
      return [...found.values()];
    });
  }

  /** Names of packages that may meet a demand, by the index alone; sorted. Undefined for too many. */
  namesFor(
    demand: Property,
    isWanted: (catalog: CatalogIdentity) => boolean,
  ): readonly string[] | undefined {
    try {
      return this.#namesFor(demand, isWanted);
    } catch (error) {
      if (error instanceof TerminalError) return undefined;
      throw error;
    }
  }

  #namesFor(
    demand: Property,
    isWanted: (catalog: CatalogIdentity) => boolean,
  ): readonly string[] | undefined {
    const providing = (api: GroupVersionKind) =>
      this.#contents
        .packagesProviding(api)
        .flatMap(({ catalog, packages }) => (isWanted(catalog) ? packages : []));
    try {
      return possiblePackages(demand, providing, new Budget(limits));
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      const message =
        'too many packages provide what it names: create an Operator for a package that meets it';
      throw new TerminalError(message, { cause: error });
    }
  }

  async choose(question: ProviderRequest): Promise<ProviderChoice> {
    return await this.#once(['choice', question], async (read) => {
      const { packageName } = question.request;
      const budget = new Budget(limits);
      return await this.#withPackages([packageName], read, (contents) =>
        chooseProvider(question, contents, budget),
      );
    });
  }

  /** Whether the bundles of that version meet all demands, in each catalog that has the version. */
  async meets(
    packageName: string,
    version: string,
    demands: readonly Property[],
  ): Promise<boolean> {
    return await this.#once(['meets', packageName, version, demands], async (read) => {
      const parsed = readVersion(version);
      if (parsed === undefined) return false;
      const packages = await this.#packagesOf(packageName, read);
      const bundles = packages.flatMap((each) => each.bundles);
      const same = bundles.filter((each) => each.version && versionText(each.version) === version);
      const budget = new Budget(limits);
      const isMetBy = (each: Bundle) => meetsDemands({ packageName, ...each }, demands, budget);
      return same.length > 0 && same.every(isMetBy);
    });
  }

  /** A bundle as the catalogs know it now; undefined if none has it any more. */
  async bundle(packageName: string, image: string): Promise<Bundle | undefined> {
    return await this.#once(['bundle', packageName, image], async (read) => {
      const packages = await this.#packagesOf(packageName, read);
      return packages.flatMap(({ bundles }) => bundles).find((each) => each.image === image);
    });
  }

  async #packagesOf(name: string, read: Set<string>): Promise<readonly PackageContent[]> {
    return await this.#withPackages([name], read, (contents) => contents.of(name));
  }

  /**
   * Computes again as long as packages are asked for that are not read.
   * @param read gets the names of packages that were read
   */
  async #withPackages<T>(
    names: readonly string[],
    read: Set<string>,
    compute: (contents: PackageContents) => T,
  ): Promise<T> {
    const packages = new Map<string, readonly PackageContent[]>();
    const missing = new Set(names);
    const contents: PackageContents = {
      of: (name) => {
        const found = packages.get(name);
        if (found === undefined) missing.add(name);
        return found ?? [];
      },
    };
    for (;;) {
      for (const name of missing) {
        read.add(name);
        packages.set(name, await this.#read(name));
      }
      missing.clear();
      const answer = compute(contents);
      if (missing.size === 0) return answer;
    }
  }

  /**
   * A package that cannot be read provides nothing.
   * @throws TerminalError if it is too large
   */
  async #read(name: string): Promise<readonly PackageContent[]> {
    const bytes = this.#contents.packageBytes(name, isOfOperators);
    if (bytes > mostBytes) {
      throw new TerminalError(
        `package ${goQuote(name)} has ${bytes} bytes in the catalogs, more than ${mostBytes}: create an Operator for it`,
      );
    }
    const found = await this.#contents.findPackage(name, isOfOperators);
    return found.flatMap((each) => ('content' in each ? [each.content] : []));
  }

  async #once<T>(question: unknown, answer: (read: Set<string>) => Promise<T>): Promise<T> {
    const key = JSON.stringify(question);
    const known = this.#answers.get(key);
    if (known !== undefined) return known.found as T;
    const revision = this.#revision;
    const packages = new Set<string>();
    const found = await answer(packages);
    if (revision !== this.#revision) return found;
    this.#remember(key, { found, packages });
    return found;
  }

  #remember(key: string, answer: Answer): void {
    const [oldest] = this.#answers.keys();
    if (this.#answers.size >= mostAnswers && oldest !== undefined) this.#answers.delete(oldest);
    this.#answers.set(key, answer);
  }
}

function isOfOperators({ kind }: CatalogIdentity): boolean {
  return kind === 'Catalog';
}
