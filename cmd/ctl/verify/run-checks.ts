import { errorMessage } from '../../../core/errors.ts';
import { clockProblem, isForbidden } from '../../../core/platform/kube/index.ts';
import { admissionChecks, contentChecks } from './answers.ts';
import { certificateChecks } from './certificates.ts';
import {
  type Check,
  type Checker,
  failed,
  ok,
  skipped,
  type VerifyContext,
  warning,
} from './check.ts';
import { definitionChecks, namespaceChecks } from './definitions.ts';
import { operatorChecks } from './operators.ts';
import { permissionChecks } from './permissions.ts';
import { processChecks } from './processes.ts';
import { webhookChecks } from './webhooks.ts';

/** Checks by name, each after those that it depends on. */
const installedCheckers: readonly (readonly [subject: string, check: Checker])[] = [
  ['clock', clockChecks],
  ['CRDs', definitionChecks],
  ['namespaces', namespaceChecks],
  ['permissions', permissionChecks],
  ['processes', processChecks],
  ['webhook configurations', webhookChecks],
  ['certificates', certificateChecks],
  ['webhooks', admissionChecks],
  ['content server', contentChecks],
  ['OLM 1.0', operatorChecks],
];

/** Runs all checks; one that cannot run does not stop the others. */
export async function* runChecks(
  context: VerifyContext,
  checkers = installedCheckers,
): AsyncGenerator<Check> {
  for (const [subject, check] of checkers) {
    try {
      yield* await check(context);
    } catch (error) {
      context.signal.throwIfAborted();
      yield problemOf(subject, error);
    }
  }
}

function problemOf(subject: string, error: unknown): Check {
  const message = errorMessage(error);
  return isForbidden(error)
    ? skipped(subject, `you lack permission to read them: ${message}`)
    : failed(subject, message, 'see that the cluster and the kubeconfig are the right ones');
}

/** All other checks of times, such as of the Lease, use this computer's clock. */
async function clockChecks({ cluster, signal }: VerifyContext): Promise<readonly Check[]> {
  const problem = clockProblem(await cluster.clockOffset(signal));
  return [
    problem === undefined
      ? ok('clock', "agrees with the API server's")
      : warning(
          'clock',
          `this computer's is ${problem} the API server's`,
          'synchronize both; where core runs, "rukpak_clock_offset_seconds" and its log show the same offset',
        ),
  ];
}
