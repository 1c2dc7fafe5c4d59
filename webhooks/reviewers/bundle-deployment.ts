import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { record } from '../../api/record.ts';
import { bundleDeploymentSpecSchema } from '../../api/v1alpha1/bundle-deployment.ts';
import type { HealthRule } from '../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { cycleText, dependencyCycle } from '../../api/v1alpha1/rules/dependency-cycle.ts';
import {
  type AdmissionRequest,
  type AdmissionUser,
  type AdmissionValidator,
  type AdmissionVerdict,
  allowed,
  denied,
  errored,
} from '../review.ts';

const checkedFields = ['serviceAccount', 'dependsOn', 'health'] as const;
const specSchema = bundleDeploymentSpecSchema
  .pick({ serviceAccount: true, dependsOn: true, health: true })
  .loose();
const text = z.string().optional();
const storedRuleSchema = z.object({
  group: text,
  kind: z.string(),
  healthy: z.string(),
  failed: text,
  message: text,
});

/** The types of the fields alone: earlier versions may have stored values that are invalid now. */
const deploymentSchema = z.object({
  metadata: z.object({
    name: z.string().optional(),
    annotations: record(z.string()).optional(),
  }),
  spec: z.looseObject({
    serviceAccount: z.object({ namespace: z.string(), name: z.string() }).optional(),
    dependsOn: z.array(z.object({ name: z.string() })).optional(),
    health: z.looseObject({ rules: z.array(storedRuleSchema).optional() }).optional(),
  }),
});

/** The fields of a BundleDeployment that checks read. */
export interface ReviewedDeployment extends z.infer<typeof deploymentSchema> {}

/** A created BundleDeployment, or one whose spec or request annotations change. */
interface DeploymentChange {
  readonly deployment: ReviewedDeployment;
  /** The deployment before the change; undefined when it is created. */
  readonly old: ReviewedDeployment | undefined;
  readonly user: AdmissionUser;
}

/** The sentence that refuses a change, or undefined. */
export type DeploymentCheck = (
  change: DeploymentChange,
  signal: AbortSignal,
) => string | undefined | Promise<string | undefined>;

interface DeploymentChecks {
  /** Checks of created deployments and of changed specs. */
  readonly spec: readonly DeploymentCheck[];
  /**
   * Checks also of annotations that request something of core: to adopt, approve, skip hooks, and
   * so on.
   */
  readonly orders: readonly DeploymentCheck[];
}

const ours = 'core.rukpak.io/';

/**
 * The validator behind `vbundledeployments.core.rukpak.io`: the first failing check refuses a
 * change. Other changes of metadata, and of status, need no check.
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
    const changed = specSchema.safeParse(changedFields(change));
    if (!changed.success) return undecodable('object.spec', changed.error);
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

/** The checked fields of the spec that the change sets to another value. */
function changedFields({ deployment, old }: Omit<DeploymentChange, 'user'>): object {
  const fields = checkedFields.filter(
    (field) => !isDeepStrictEqual(old?.spec[field], deployment.spec[field]),
  );
  return Object.fromEntries(fields.map((field) => [field, deployment.spec[field]]));
}

/** The webhook writes changed-by itself, so a change of it is not a request of the user. */
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

/** Finds the dependencies of existing BundleDeployments. */
export interface DependencyReader {
  /** The names in `spec.dependsOn`; empty for a deployment that does not exist. */
  dependenciesOf(name: string): readonly string[];
}

/** Refuses circular dependencies, in which each deployment would wait for ever. */
export function dependencyCycleCheck(deployments: DependencyReader): DeploymentCheck {
  return ({ deployment, old }) => {
    const { name = '' } = deployment.metadata;
    const dependencies = dependenciesIn(deployment);
    // An existing cycle must not block changes of other fields.
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

/** The problem of a rule, in one sentence that names the field; undefined for a valid rule. */
export type RuleProblem = (rule: HealthRule, index: number) => string | undefined;

/** Refuses invalid health rules, whose objects would otherwise count as failed. */
export function healthRulesCheck(ruleProblem: RuleProblem): DeploymentCheck {
  return ({ deployment, old }) => {
    const { rules = [] } = deployment.spec.health ?? {};
    // Stored rules must not block other changes.
    if (isDeepStrictEqual(rules, old?.spec.health?.rules ?? [])) return undefined;
    for (const [index, rule] of rules.entries()) {
      const problem = ruleProblem(rule, index);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}
