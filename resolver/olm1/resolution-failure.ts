import type { FailedPackage } from './package-resolution.ts';

/** Why nothing can be resolved: ends a choice; the message is upstream's. */
export class ResolutionFailure extends Error {
  override readonly name = 'ResolutionFailure';
  readonly reason: FailedPackage['reason'];
  /** What would help, where the message's cause is not one of the request's conditions. */
  readonly help: readonly string[];

  constructor(reason: FailedPackage['reason'], message: string, help: readonly string[] = []) {
    super(message);
    this.reason = reason;
    this.help = help;
  }
}
