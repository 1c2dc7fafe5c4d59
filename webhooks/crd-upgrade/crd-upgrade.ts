import { annotation } from '../../api/v1alpha1/labels.ts';
import type { Logger, ObjectClient } from '../cluster.ts';
import {
  type AdmissionRequest,
  type AdmissionValidator,
  type AdmissionVerdict,
  allowed,
  denied,
  errored,
} from '../review.ts';
import { findIncompatibility } from './compatibility.ts';
import {
  type CustomResourceDefinition,
  isAnnotated,
  liveCrd,
  parseCrd,
} from './custom-resource-definition.ts';
import type { ObjectLister } from './custom-resources.ts';
import { Turns } from './turns.ts';

export interface CrdUpgradeOptions {
  readonly client: Pick<ObjectClient, 'get'> & ObjectLister;
  readonly logger: Logger;
}

/** CRDs whose custom resources are read at the same time; each holds one page in memory. */
const atOnce = 2;

/**
 * The validator behind `webhook.crdvalidator.io`: a change of a CRD is denied
 * where custom resources would not be valid any more. What cannot be found out is denied too.
 */
export function crdUpgradeValidator({ client, logger }: CrdUpgradeOptions): AdmissionValidator {
  const turns = new Turns(atOnce);
  return async (request, signal) => {
    const { operation, subResource, name = '' } = request;
    if ((operation !== 'CREATE' && operation !== 'UPDATE') || subResource) return allowed;
    const next = decode(request);
    if ('allowed' in next) return next;
    if (isAnnotated(next, annotation.safeCrdUpgrade, 'false')) return allowed;
    try {
      const fault = await turns.run(() => findFault({ next, client }, signal), signal);
      return fault === undefined ? allowed : refused(request, fault);
    } catch (error) {
      logger.warn({ crd: name, error: text(error) }, 'the safety of a CRD could not be validated');
      return refused(request, signal.aborted ? outOfTime : text(error));
    }
  };
}

const outOfTime =
  'its custom resources could not all be checked within the time of the admission request; retry, or set the annotation';

function decode(request: AdmissionRequest): CustomResourceDefinition | AdmissionVerdict {
  try {
    return parseCrd(request.object);
  } catch (error) {
    return errored(400, `failed to decode CRD "${request.name ?? ''}": ${text(error)}`);
  }
}

async function findFault(
  {
    next,
    client,
  }: { readonly next: CustomResourceDefinition; readonly client: CrdUpgradeOptions['client'] },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name } = next.metadata;
  const live = await liveCrd(client, name, signal);
  if (live === undefined) return undefined;
  const fault = await findIncompatibility({ live, next }, client, signal);
  if (fault !== undefined) {
    return `error validating existing CRs against new CRD's schema for "${name}": ${fault}`;
  }
  const lost = live.status?.storedVersions?.find(
    (stored) => !next.spec.versions.some((version) => version.name === stored),
  );
  if (lost === undefined) return undefined;
  return `risk of data loss updating "${name}": new CRD removes version ${lost} that is listed as a stored version on the existing CRD`;
}

function refused({ operation, name = '' }: AdmissionRequest, cause: string): AdmissionVerdict {
  return denied(
    `failed to validate safety of ${operation} for CRD "${name}" (NOTE: to disable this validation, set the "${annotation.safeCrdUpgrade}" annotation to "false"): ${cause}`,
  );
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
