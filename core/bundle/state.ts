import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { SourceResult } from '../contracts/source.ts';

/** What one reconcile of a Bundle has found out so far. */
export interface BundleState {
  /** As last read from or written to the API server. */
  bundle: Bundle;
  /** The status to write at the end. */
  status: BundleStatus;
  fetched?: SourceResult;
  converted?: BundleFiles;
}

export interface StepContext {
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** `done` ends the reconcile; the status is written either way. */
export type StepOutcome = 'continue' | 'done';
