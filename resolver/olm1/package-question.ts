import type { Budget } from '../budget.ts';
import { contentSteps, type PackageContent } from '../candidates/index.ts';
import {
  constraintSteps,
  parseConstraint,
  satisfies,
  type VersionConstraint,
} from '../versions/index.ts';
import { type Candidate, candidatesOf } from './candidate.ts';
import type { PackageContents, PackageRequest } from './package-request.ts';

/** A request with what the catalogs have for it. */
export class PackageQuestion {
  readonly request: PackageRequest;
  /** What catalogs have of any package. */
  readonly library: PackageContents;
  /** What each catalog has of the package, by the catalog's name. */
  readonly contents: readonly PackageContent[];
  readonly candidates: readonly Candidate[];
  readonly budget: Budget;
  readonly #range: VersionConstraint | undefined;
  readonly #rangeSteps: number;
  /** Names of the entries of the requested channels; undefined if any bundle will do. */
  readonly #inChannels: ReadonlyMap<PackageContent, ReadonlySet<string>> | undefined;

  /**
   * @throws VersionError if the requested range cannot be read
   * @throws BudgetError
   */
  constructor(request: PackageRequest, contents: PackageContents, budget: Budget) {
    const { packageName, version, channels } = request;
    this.#range = version === undefined ? undefined : parseConstraint(version);
    this.#rangeSteps = this.#range === undefined ? 0 : constraintSteps(this.#range);
    this.budget = budget;
    this.request = request;
    this.library = contents;
    this.contents = contents
      .of(packageName)
      .toSorted((a, b) => (a.catalog.name < b.catalog.name ? -1 : 1));
    for (const content of this.contents) budget.take(contentSteps(content));
    this.candidates = candidatesOf(this.contents);
    if (channels.length > 0) {
      const names = (content: PackageContent) =>
        this.channelsOf(content).flatMap(({ entries }) => entries.map(({ name }) => name));
      this.#inChannels = new Map(this.contents.map((each) => [each, new Set(names(each))]));
    }
  }

  /** The requested channels that a catalog has; all channels if none is requested. */
  channelsOf(content: PackageContent): PackageContent['channels'] {
    const { channels } = this.request;
    if (channels.length === 0) return content.channels;
    return content.channels.filter(({ name }) => channels.includes(name));
  }

  isInChannels({ bundle, content }: Candidate): boolean {
    return this.#inChannels?.get(content)?.has(bundle.name) ?? this.#inChannels === undefined;
  }

  isInRange({ bundle: { version } }: Candidate): boolean {
    if (this.#range === undefined) return true;
    this.budget.take(this.#rangeSteps);
    return version !== undefined && satisfies(version, this.#range);
  }

  isRequested(candidate: Candidate): boolean {
    return this.isInChannels(candidate) && this.isInRange(candidate);
  }
}
