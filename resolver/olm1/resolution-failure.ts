import { goQuote } from '../../api/go-quote.ts';
import type { PackageRequest } from './package-request.ts';
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

/** The failure of a request whose resolution a limit ends: it `takes more than 4 steps`. */
export function limitFailure({ packageName }: PackageRequest, what: string): FailedPackage {
  const name = goQuote(packageName);
  const message = `resolving package ${name} ${what}: request one channel and a narrow version range, or ask the authors of its catalogs for fewer bundles, channel entries and constraints`;
  const explanation = { asked: `package ${name}`, message, chain: [], considered: [] };
  return {
    kind: 'failed',
    reason: 'limit',
    message,
    deprecations: [],
    newest: undefined,
    explanation: { ...explanation, suggestions: [] },
  };
}
