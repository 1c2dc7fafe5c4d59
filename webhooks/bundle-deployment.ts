import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { bundleDeploymentSpecSchema } from '../api/v1alpha1/bundle-deployment.ts';
import {
  type AdmissionRequest,
  type AdmissionUser,
  type AdmissionValidator,
  type AdmissionVerdict,
  allowed,
  denied,
  errored,
} from './review.ts';

const deploymentSchema = z.object({
  metadata: z.object({ name: z.string().optional() }),
  spec: bundleDeploymentSpecSchema
    .pick({ serviceAccount: true, dependsOn: true, health: true })
    .loose(),
});

/** A BundleDeployment, as far as checks read it. */
export interface ReviewedDeployment extends z.infer<typeof deploymentSchema> {}

/** A BundleDeployment that is created, or whose spec changes. */
export interface DeploymentChange {
  readonly deployment: ReviewedDeployment;
  /** As it was; undefined where it is created. */
  readonly old: ReviewedDeployment | undefined;
  readonly user: AdmissionUser;
}

/** The sentence that refuses a change, or undefined. */
export type DeploymentCheck = (
  change: DeploymentChange,
  signal: AbortSignal,
) => string | undefined | Promise<string | undefined>;

/**
 * The validator behind `vbundledeployments.core.rukpak.io`: the first check that has something
 * against a change refuses it. Nobody is asked about changes of metadata or status.
 */
export function bundleDeploymentValidator(checks: readonly DeploymentCheck[]): AdmissionValidator {
  return async (request, signal) => {
    const { operation, object, oldObject } = request;
    if (!changesObject(request)) return allowed;
    const deployment = deploymentSchema.safeParse(object);
    if (!deployment.success) return undecodable('object', deployment.error);
    const old = operation === 'UPDATE' ? deploymentSchema.safeParse(oldObject) : undefined;
    if (old?.success === false) return undecodable('oldObject', old.error);
    if (isDeepStrictEqual(old?.data.spec, deployment.data.spec)) return allowed;
    const change = { deployment: deployment.data, old: old?.data, user: userOf(request) };
    return await judge(checks, change, signal);
  };
}

async function judge(
  checks: readonly DeploymentCheck[],
  change: DeploymentChange,
  signal: AbortSignal,
): Promise<AdmissionVerdict> {
  for (const check of checks) {
    const fault = await check(change, signal);
    if (fault !== undefined) return denied(fault);
  }
  return allowed;
}

function changesObject({ operation, subResource }: AdmissionRequest): boolean {
  return (operation === 'CREATE' || operation === 'UPDATE') && !subResource;
}

function userOf({ userInfo }: AdmissionRequest): AdmissionUser {
  if (userInfo === undefined) throw new Error('the AdmissionReview does not say who the user is');
  return userInfo;
}

function undecodable(field: string, error: z.ZodError) {
  const [issue] = error.issues;
  const path = [`request.${field}`, ...(issue?.path ?? [])].join('.');
  return errored(400, `failed to decode BundleDeployment: ${path}: ${issue?.message}`);
}
