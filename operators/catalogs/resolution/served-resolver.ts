import { type Clock, Semaphore } from '../../../core/controller.ts';
import { Budget } from '../../../resolver/budget.ts';
import type { FoundPackage, StoredContents } from '../catalog-contents.ts';
import type { TimeLimits } from '../limited-process.ts';
import { answerFrom, type PackageAnswer } from './package-answer.ts';
import type { AskedPackage, PackageResolver } from './package-resolver.ts';
import { ResolutionProcess } from './resolution-process.ts';

export interface ServedResolverLimits {
  /** Maximum bytes of all packages that one resolution reads on the event loop. */
  readonly inlineBytes: number;
  /** Maximum steps of a resolution on the event loop. */
  readonly inlineSteps: number;
  readonly time: TimeLimits;
  readonly memoryMegabytes: number;
  readonly idleTime: number;
}

interface ServedResolverOptions {
  /** Directory with the content of all catalogs. */
  readonly directory: string;
  readonly clock: Clock;
  readonly limits?: Partial<ServedResolverLimits>;
}

const defaultLimits: ServedResolverLimits = {
  inlineBytes: 256 * 1024,
  inlineSteps: 100_000,
  time: { processor: 30_000, elapsed: 300_000 },
  memoryMegabytes: 256,
  idleTime: 30_000,
};

/** Attempts if newer content replaces the files while they are opened. */
const attempts = 3;

/**
 * Resolves packages of served catalogs without holding the event loop: small packages at once, a
 * few milliseconds at a time; large ones, and all with expressions, in a process of their own.
 */
export class ServedResolver implements PackageResolver {
  readonly #contents: StoredContents;
  readonly #limits: ServedResolverLimits;
  readonly #process: ResolutionProcess;
  /** One at a time: what two of them compute would add up. */
  readonly #inline = new Semaphore(1);

  constructor(contents: StoredContents, { directory, clock, limits }: ServedResolverOptions) {
    this.#contents = contents;
    this.#limits = { ...defaultLimits, ...limits };
    this.#process = new ResolutionProcess({ ...this.#limits, directory }, clock);
  }

  async resolve(asked: AskedPackage, signal: AbortSignal): Promise<PackageAnswer> {
    const answer = await this.#inline.run(() => this.#resolveSmall(asked), signal);
    return answer ?? (await this.#resolveElsewhere(asked, signal));
  }

  async close(): Promise<void> {
    await this.#process.close();
  }

  /** Undefined for a resolution that is not small. */
  async #resolveSmall({ isWanted, ...question }: AskedPackage): Promise<PackageAnswer | undefined> {
    const { inlineBytes, inlineSteps } = this.#limits;
    let bytes = 0;
    const find = async (name: string): Promise<readonly FoundPackage[]> => {
      bytes += this.#contents.packageBytes(name, isWanted);
      if (bytes > inlineBytes) throw new LargePackages();
      return await this.#contents.findPackage(name, isWanted);
    };
    const budget = new Budget({ steps: inlineSteps, allowsRules: false });
    try {
      const answer = await answerFrom(find, question, budget);
      const { resolution } = answer;
      const isLimited = resolution.kind === 'failed' && resolution.reason === 'limit';
      return isLimited ? undefined : answer;
    } catch (error) {
      if (error instanceof LargePackages) return undefined;
      throw error;
    }
  }

  async #resolveElsewhere(asked: AskedPackage, signal: AbortSignal): Promise<PackageAnswer> {
    const { request, surroundings, isWanted, image } = asked;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const places = this.#contents.places(isWanted);
      const { present, unavailable } = surroundings;
      const job = { request, present, unavailable, image, places };
      const answer = await this.#process.resolve(job, signal);
      for (const name of answer?.unreadable ?? []) this.#contents.suspect(name);
      if (answer !== undefined) return answer;
    }
    for (const { catalog } of this.#contents.places(isWanted)) this.#contents.suspect(catalog.name);
    throw new Error(`the catalogs of package "${request.packageName}" cannot be read`);
  }
}

class LargePackages extends Error {
  override readonly name = 'LargePackages';
}
