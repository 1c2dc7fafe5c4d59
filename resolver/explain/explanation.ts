/** Why a request has its answer, for people; a plain value, so its JSON is the value itself. */
export interface Explanation {
  /** The request: `package "p" in version range ">=1.0.0" in channel "stable"`. */
  readonly asked: string;
  /** The exact message that conditions and logs carry. */
  readonly message: string;
  /** The facts that lead to the answer, each one sentence, from the request to the conflict. */
  readonly chain: readonly string[];
  /** The bundles that could have been chosen, by why they were not; the most hopeful group first. */
  readonly considered: readonly ConsideredGroup[];
  /** What would help, the most promising first: `Add channel "beta".` */
  readonly suggestions: readonly string[];
}

/** Bundles that are out for one reason. */
export interface ConsideredGroup {
  /** `not in channel "stable"`. */
  readonly reason: string;
  /** Highest version first; all groups of an explanation list at most ten bundles. */
  readonly bundles: readonly ConsideredBundle[];
  /** Number of further bundles with this reason. */
  readonly more: number;
}

export interface ConsideredBundle {
  readonly name: string;
  /** Empty if the catalog names no valid version. */
  readonly version: string;
  readonly catalog: string;
}
