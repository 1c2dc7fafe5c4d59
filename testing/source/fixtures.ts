import type { BundleSource } from '../../core/sdk.ts';
import type { FileTexts } from '../content.ts';
import type { SourceContextOptions } from '../contexts.ts';
import type { RefusalName } from '../suite.ts';

/** What a source is tried with: one spec at least that is fetched. */
export interface SourceFixtures {
  readonly fetched: readonly FetchedSource[];
  /** Beside a spec of nothing but its type, which every source refuses. */
  readonly refused?: readonly RefusedSource[];
  /** Milliseconds that one call of `fetch` may take (default 60000). */
  readonly timeout?: number;
}

interface Attempt extends Pick<SourceContextOptions, 'secrets' | 'configMaps'> {
  /** For the names of the tests. */
  readonly name: string;
  /** A Bundle's spec.source. */
  readonly source: BundleSource;
}

/** A spec that is fetched. */
export interface FetchedSource extends Attempt {
  /** Everything that is fetched, by path (default: not compared). */
  readonly files?: FileTexts;
  /** What the source is pinned to (default: not compared). */
  readonly resolvedSource?: BundleSource;
  /** What `host` names, as `host` or `host:port` (default: not compared). */
  readonly host?: string;
}

/** A spec that is not fetched. */
export interface RefusedSource extends Attempt {
  /**
   * TerminalError: only another spec helps. WaitingError: the Bundle stays Pending. Error: any
   * other, after which the Bundle is tried again with back-off.
   */
  readonly error: RefusalName;
  /** The whole message, or a pattern that it matches. */
  readonly message: string | RegExp;
}
