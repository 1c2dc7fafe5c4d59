import { clockProblem } from '../../../core/platform/kube/index.ts';
import { type Check, ok, type VerifyContext, warning } from './check.ts';

/** What else is said of times, such as of the Lease, is by this computer's clock. */
export async function clockChecks({ cluster, signal }: VerifyContext): Promise<readonly Check[]> {
  const problem = clockProblem(await cluster.clockOffset(signal));
  return [
    problem === undefined
      ? ok('clock', "agrees with the API server's")
      : warning(
          'clock',
          `this computer's is ${problem} the API server's`,
          'synchronize both; where core runs, "rukpak_clock_offset_seconds" and its log tell the same',
        ),
  ];
}
