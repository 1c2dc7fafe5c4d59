import { errorMessage } from '../../../core/errors.ts';
import { ApiError } from '../../../core/platform/kube/index.ts';
import { admissionChecks } from './admission.ts';
import { certificateChecks } from './certificates.ts';
import { type Check, type Checker, failed, skipped, type VerifyContext } from './check.ts';
import { clockChecks } from './clock.ts';
import { contentChecks } from './content.ts';
import { definitionChecks } from './definitions.ts';
import { namespaceChecks } from './namespaces.ts';
import { permissionChecks } from './permissions.ts';
import { processChecks } from './processes.ts';
import { webhookChecks } from './webhooks.ts';

/** In the order in which one thing needs the other; by the subject that stands for all of each. */
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
];

/** Looks at everything, part by part; one that cannot be looked at stops no other. */
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
  return error instanceof ApiError && error.code === 403
    ? skipped(subject, `you may not look at them: ${message}`)
    : failed(subject, message, 'see that the cluster and the kubeconfig are the right ones');
}
