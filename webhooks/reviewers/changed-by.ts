import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { record } from '../../api/record.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import {
  type AdmissionRequest,
  type AdmissionValidator,
  type AdmissionVerdict,
  allowed,
  type JsonPatchOperation,
} from '../review.ts';

const deploymentSchema = z.object({
  metadata: z.object({ annotations: record(z.string()).optional() }),
  spec: z.looseObject({}).optional(),
});

type Deployment = z.infer<typeof deploymentSchema>;

/**
 * Behind `mbundledeployments.core.rukpak.io`: records on a BundleDeployment which user created it
 * or last changed its spec, and prevents forged records. It refuses nothing: without it only the
 * record is missing.
 */
export const changedByMutator: AdmissionValidator = (request) => {
  const { operation, subResource, object, oldObject } = request;
  if (subResource) return allowed;
  const deployment = deploymentSchema.safeParse(object);
  if (!deployment.success) return allowed;
  if (operation === 'CREATE') return noted(deployment.data, userOf(request));
  const old = deploymentSchema.safeParse(oldObject);
  if (!old.success) return allowed;
  const same = isDeepStrictEqual(workOf(old.data), workOf(deployment.data));
  return noted(deployment.data, same ? noteOf(old.data) : userOf(request));
};

/** Pausing or resuming a deployment does not change what is installed. */
function workOf({ spec = {} }: Deployment): object {
  const { paused: _, ...work } = spec;
  return work;
}

function userOf({ userInfo }: AdmissionRequest): string | undefined {
  return userInfo?.username === '' ? undefined : userInfo?.username;
}

function noteOf({ metadata }: Deployment): string | undefined {
  return metadata.annotations?.[annotation.changedBy];
}

function noted(deployment: Deployment, wanted: string | undefined): AdmissionVerdict {
  if (noteOf(deployment) === wanted) return allowed;
  return { allowed: true, patch: [operationFor(deployment, wanted)] };
}

function operationFor({ metadata }: Deployment, value: string | undefined): JsonPatchOperation {
  const path = `/metadata/annotations/${annotation.changedBy.replace('/', '~1')}`;
  if (value === undefined) return { op: 'remove', path };
  if (metadata.annotations !== undefined) return { op: 'add', path, value };
  return { op: 'add', path: '/metadata/annotations', value: { [annotation.changedBy]: value } };
}
