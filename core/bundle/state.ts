import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { FetchedContent, OwnFetch } from './shared-fetches.ts';
import type { UnpackSlot } from './unpack-slots.ts';

/** What one reconcile of a Bundle has found out so far. */
export interface BundleState {
  /** As last read from or written to the API server. */
  bundle: Bundle;
  /** The status to write at the end. */
  status: BundleStatus;
  /** Held from the fetch to the end of the unpacking. */
  slot?: UnpackSlot;
  /** Where the content is for this Bundle to fetch, and not for another one. */
  ownFetch?: OwnFetch;
  fetched?: FetchedContent;
  converted?: BundleFiles;
  /** What takes its time now, as a clause. */
  doing?: string;
}

export interface StepContext {
  readonly signal: AbortSignal;
  /** Aborted when the process begins to stop: what waits to begin ends. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

/** `done` ends the reconcile; the status is written either way. */
export type StepOutcome = 'continue' | 'done';
