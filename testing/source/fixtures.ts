import type { BundleSource } from '../../core/sdk.ts';
import type { FileTexts } from '../content.ts';
import type { SourceContextOptions } from '../contexts.ts';
import type { RefusalName } from '../suite.ts';

/** Inputs for testing a source: at least one spec that can be fetched. */
export interface SourceFixtures {
  readonly fetched: readonly FetchedSource[];
  /** In addition to a spec with only its type, which every source must refuse. */
  readonly refused?: readonly RefusedSource[];
  /** Maximum milliseconds of one call of `fetch` (default 60000). */
  readonly timeout?: number;
}

interface Attempt extends Pick<SourceContextOptions, 'secrets' | 'configMaps'> {
  /** For the names of the tests. */
  readonly name: string;
  /** A Bundle's spec.source. */
  readonly source: BundleSource;
}

/** A spec that can be fetched. */
export interface FetchedSource extends Attempt {
  /** All fetched files by path (default: not compared). */
  readonly files?: FileTexts;
  /** The pinned source (default: not compared). */
  readonly resolvedSource?: BundleSource;
  /** The result of `host`, as `host` or `host:port` (default: not compared). */
  readonly host?: string;
}

/** A spec that cannot be fetched. */
export interface RefusedSource extends Attempt {
  /**
   * TerminalError: only another spec helps. WaitingError: the Bundle stays Pending. Error: any
   * other, which core retries with back-off.
   */
  readonly error: RefusalName;
  /** The whole message, or a pattern that it matches. */
  readonly message: string | RegExp;
}
