import { z } from 'zod';
import type { KubernetesObject } from '../../api/meta.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import { errorMessage } from '../../core/errors.ts';
import type { KubeClient } from '../../core/platform/kube/index.ts';
import {
  type AdmissionRequest,
  type AdmissionValidator,
  type AdmissionVerdict,
  allowed,
  denied,
  errored,
} from '../review.ts';
import { CheckTurns } from './check-turns.ts';
import {
  type CrdChange,
  checksOf,
  findIncompatibility,
  removedStoredVersions,
} from './compatibility.ts';
import {
  type CustomResourceDefinition,
  firstPage,
  isAnnotated,
  liveCrd,
  type ObjectLister,
  type ObjectPage,
  parseCrd,
} from './custom-resources.ts';

export interface CrdUpgradeOptions {
  readonly client: Pick<KubeClient, 'get'> & ObjectLister;
  readonly logger: Logger;
  /** Milliseconds of processor time for one review (default: 20 s). */
  readonly processorTime?: number;
}

/**
 * The validator behind `webhook.crdvalidator.io`: denies a change of a CRD that would make existing
 * custom resources invalid, and a change that cannot be checked.
 */
export function crdUpgradeValidator({
  client,
  logger,
  processorTime,
}: CrdUpgradeOptions): AdmissionValidator {
  const turns = new CheckTurns(processorTime);
  return async (request, signal) => {
    const { operation, subResource, name = '' } = request;
    if ((operation !== 'CREATE' && operation !== 'UPDATE') || subResource) return allowed;
    const next = decode(request);
    if ('allowed' in next) return next;
    if (isAnnotated(next, annotation.safeCrdUpgrade, 'false')) return allowed;
    try {
      const fault = await findFault({ next, client, turns, asker: request.client }, signal);
      return fault === undefined ? allowed : refused(request, fault);
    } catch (error) {
      logger.warn(
        { crd: name, error: errorMessage(error) },
        'the safety of a CRD could not be validated',
      );
      return refused(request, signal.aborted ? outOfTime : errorMessage(error));
    }
  };
}

const outOfTime =
  'its custom resources could not all be checked within the time of the admission request; retry, or set the annotation';

function decode(request: AdmissionRequest): CustomResourceDefinition | AdmissionVerdict {
  try {
    return parseCrd(request.object);
  } catch (error) {
    return errored(400, `failed to decode CRD "${request.name ?? ''}": ${errorMessage(error)}`);
  }
}

interface Review {
  readonly next: CustomResourceDefinition;
  readonly client: CrdUpgradeOptions['client'];
  readonly turns: CheckTurns;
  /** The client that sent the review. */
  readonly asker: string | undefined;
}

async function findFault(review: Review, signal: AbortSignal): Promise<string | undefined> {
  const { next, client } = review;
  const { name } = next.metadata;
  const live = await liveCrd(client, name, signal);
  if (live === undefined) return undefined;
  const fault = await findInvalidObject({ live, next }, review, signal);
  if (fault !== undefined) {
    return `error validating existing CRs against new CRD's schema for "${name}": ${fault}`;
  }
  const lost = live.status?.storedVersions?.find(
    (stored) => !next.spec.versions.some((version) => version.name === stored),
  );
  if (lost === undefined) return undefined;
  return `risk of data loss updating "${name}": new CRD removes version ${lost} that is listed as a stored version on the existing CRD`;
}

/** Takes a place only for a change that needs objects: invented reviews must not hold them. */
async function findInvalidObject(
  change: CrdChange,
  { client: lister, turns, asker = '' }: Review,
  signal: AbortSignal,
): Promise<string | undefined> {
  const removed = removedStoredVersions(change);
  if (removed.length > 0) return `cannot remove stored versions [${removed.join(' ')}]`;
  const checks = checksOf(change);
  if (checks.length === 0) return undefined;
  const { live } = change;
  return await turns.run(
    asker,
    (processor) => findIncompatibility(checks, { live, lister, processor }, signal),
    signal,
  );
}

function refused({ operation, name = '' }: AdmissionRequest, cause: string): AdmissionVerdict {
  return denied(
    `failed to validate safety of ${operation} for CRD "${name}" (NOTE: to disable this validation, set the "${annotation.safeCrdUpgrade}" annotation to "false"): ${cause}`,
  );
}

const namedSchema = z.object({ metadata: z.object({ name: z.string() }) });

/**
 * The validator behind `deletion.crdvalidator.io`: denies the deletion of a BundleDeployment's CRD
 * while there are custom resources of it, which would be lost, or nobody can see whether there are. Reads the CRD from the cluster, so
 * that a forged review cannot name another list.
 */
export function crdDeletionValidator(
  client: Pick<KubeClient, 'get'> & ObjectLister,
): AdmissionValidator {
  return async ({ operation, subResource, oldObject }, signal) => {
    if (operation !== 'DELETE' || subResource) return allowed;
    // A review of a collection's deletion names only the object.
    const old = namedSchema.safeParse(oldObject).data;
    if (old === undefined) return errored(400, 'request.oldObject has no metadata.name');
    const crd = await liveCrd(client, old.metadata.name, signal);
    if (crd === undefined || !isGuarded(crd)) return allowed;
    const page = await firstPage(crd, (resource) => client.list(resource, { limit: 1, signal }));
    if (page === undefined) return denied(refusal(crd, unseen));
    const [first] = page.items;
    return first === undefined ? allowed : denied(refusal(crd, existing(first, page)));
  };
}

/** A CRD that is being deleted loses its custom resources anyway. */
function isGuarded(crd: CustomResourceDefinition): boolean {
  const { labels, deletionTimestamp } = crd.metadata;
  if (labels?.[label.ownerKind] !== 'BundleDeployment' || deletionTimestamp) return false;
  return !isAnnotated(crd, annotation.safeCrdDeletion, 'false');
}

function refusal({ metadata }: CustomResourceDefinition, cause: string): string {
  return `refusing to delete CRD "${metadata.name}": ${cause}, or set the annotation "${annotation.safeCrdDeletion}" to "false"`;
}

const unseen =
  'the API server lists no version of it, so its custom resources cannot be counted; serve a version';

function existing(first: KubernetesObject, page: ObjectPage): string {
  const count = page.items.length + (page.metadata.remainingItemCount ?? 0);
  const { namespace = '', name } = first.metadata;
  return `${count} custom resources of it exist, e.g. ${namespace}/${name}; delete them first`;
}
