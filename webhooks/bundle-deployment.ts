import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { record } from '../api/record.ts';
import { bundleDeploymentSpecSchema } from '../api/v1alpha1/bundle-deployment.ts';
import { cycleText, dependencyCycle } from '../api/v1alpha1/dependency-cycle.ts';
import type { HealthRule } from '../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../api/v1alpha1/labels.ts';
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
  metadata: z.object({
    name: z.string().optional(),
    annotations: record(z.string()).optional(),
  }),
  spec: bundleDeploymentSpecSchema
    .pick({ serviceAccount: true, dependsOn: true, health: true })
    .loose(),
});

/** A BundleDeployment, as far as checks read it. */
export interface ReviewedDeployment extends z.infer<typeof deploymentSchema> {}

/** A BundleDeployment that is created, or whose spec or orders in annotations change. */
interface DeploymentChange {
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

interface DeploymentChecks {
  /** Of deployments that are created, or whose spec changes. */
  readonly spec: readonly DeploymentCheck[];
  /** Of what annotations ask core for as well: to adopt, approve, skip hooks, and so on. */
  readonly orders: readonly DeploymentCheck[];
}

const ours = 'core.rukpak.io/';

/**
 * The validator behind `vbundledeployments.core.rukpak.io`: the first check that has something
 * against a change refuses it. Nobody is asked about other changes of metadata, or of status.
 */
export function bundleDeploymentValidator(checks: DeploymentChecks): AdmissionValidator {
  return async (request, signal) => {
    const { operation, object, oldObject } = request;
    if (!changesObject(request)) return allowed;
    const deployment = deploymentSchema.safeParse(object);
    if (!deployment.success) return undecodable('object', deployment.error);
    const old = operation === 'UPDATE' ? deploymentSchema.safeParse(oldObject) : undefined;
    if (old?.success === false) return undecodable('oldObject', old.error);
    const change = { deployment: deployment.data, old: old?.data };
    const asked = checksOf(change, checks);
    if (asked.size === 0) return allowed;
    return await judge(asked, { ...change, user: userOf(request) }, signal);
  };
}

function checksOf(
  { deployment, old }: Omit<DeploymentChange, 'user'>,
  { spec, orders }: DeploymentChecks,
): ReadonlySet<DeploymentCheck> {
  return new Set([
    ...(isDeepStrictEqual(old?.spec, deployment.spec) ? [] : spec),
    ...(isDeepStrictEqual(ordersOf(old), ordersOf(deployment)) ? [] : orders),
  ]);
}

/** The webhook itself notes who has changed it: the API server has not asked the user for that. */
function ordersOf(deployment: ReviewedDeployment | undefined): ReadonlyMap<string, string> {
  const entries = Object.entries(deployment?.metadata.annotations ?? {});
  return new Map(entries.filter(([key]) => key.startsWith(ours) && key !== annotation.changedBy));
}

async function judge(
  checks: Iterable<DeploymentCheck>,
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

/** Knows what the BundleDeployments depend on that there are. */
export interface DependencyReader {
  /** The names in `spec.dependsOn`; none for a deployment that does not exist. */
  dependenciesOf(name: string): readonly string[];
}

/** Refuses dependencies of which each would wait for the other, for ever. */
export function dependencyCycleCheck(deployments: DependencyReader): DeploymentCheck {
  return ({ deployment, old }) => {
    const { name = '' } = deployment.metadata;
    const dependencies = dependenciesIn(deployment);
    // A cycle that is there already must not keep other fields from being changed.
    if (isDeepStrictEqual(dependencies, old && dependenciesIn(old))) return undefined;
    for (const dependency of dependencies) {
      const cycle = dependencyCycle({ name, dependency }, (from) =>
        deployments.dependenciesOf(from),
      );
      if (cycle !== undefined) return `spec.dependsOn makes a cycle: ${cycleText(cycle)}`;
    }
    return undefined;
  };
}

function dependenciesIn({ spec }: ReviewedDeployment): readonly string[] {
  return spec.dependsOn?.map(({ name }) => name) ?? [];
}

/** What is wrong with a rule, as one sentence that names the field; undefined where nothing is. */
export type RuleProblem = (rule: HealthRule, index: number) => string | undefined;

/** Refuses health rules that could judge nothing: else they would show as objects that failed. */
export function healthRulesCheck(ruleProblem: RuleProblem): DeploymentCheck {
  return ({ deployment, old }) => {
    const { rules = [] } = deployment.spec.health ?? {};
    // What is stored already must not stand in the way of other changes.
    if (isDeepStrictEqual(rules, old?.spec.health?.rules ?? [])) return undefined;
    for (const [index, rule] of rules.entries()) {
      const problem = ruleProblem(rule, index);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}
