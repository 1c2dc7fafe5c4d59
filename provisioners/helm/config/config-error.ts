import { TerminalError } from '../../../core/sdk.ts';

/** A fault of spec.config, with what v0.16 began such messages with. */
export function configError(field: string, problem: string): TerminalError {
  return new TerminalError(`parse deployment config: spec.config.${field} ${problem}`);
}
