import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { ProvisionerContext } from '../../contracts/provisioner.ts';
import type { FetchOrigin, GivenFacts, HandlerName } from './messages.ts';

/** One call of a provisioner's handler, or of a source. */
export interface Call {
  /** Who is called, for messages: `class "acme"`. */
  readonly callee: string;
  readonly module: URL;
  readonly handler: HandlerName;
  readonly files: BundleFiles;
  readonly object: object;
  readonly origin?: FetchOrigin;
  readonly facts?: GivenFacts;
  readonly context: ProvisionerContext;
}
