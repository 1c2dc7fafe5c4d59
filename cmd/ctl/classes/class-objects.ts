import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeploymentContext, Provisioner } from '../../../core/contracts/provisioner.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  type BundleFiles,
  defaultLimits,
  type InputReference,
  type KubernetesObject,
  type ProvisionerContext,
} from '../../../core/sdk.ts';
import plain from '../../../provisioners/plain/index.ts';
import { warningLogger } from '../warning-logger.ts';

/** What a deployment is rendered with besides its content and itself. */
export type RenderFacts = Pick<DeploymentContext, 'inputs' | 'cluster' | 'seed'>;

export interface ClassContent {
  readonly files: BundleFiles;
  /** Class of the Bundle. */
  readonly bundleClass: Provisioner;
  readonly deploymentClass: Provisioner;
  readonly deployment: BundleDeployment;
  /** Gives what the class of the deployment asked for. */
  readonly facts: (references: readonly InputReference[]) => Promise<RenderFacts>;
  readonly signal: AbortSignal;
}

/**
 * The objects that core would apply: the Bundle's class converts the content and adapts it to the
 * deployment, the deployment's class makes objects of it.
 * @throws Error with the message that the condition would have.
 */
export async function classObjects(content: ClassContent): Promise<readonly KubernetesObject[]> {
  const { files, bundleClass, deploymentClass, deployment, signal } = content;
  const context: ProvisionerContext = { signal, logger: warningLogger, limits: defaultLimits };
  const { apiVersion, metadata, spec } = deployment;
  const object = { apiVersion, kind: 'Bundle', metadata: { name: metadata.name ?? '' } } as const;
  const bundle = { ...object, spec: spec.template.spec };
  const stored = (await bundleClass.bundle?.(files, bundle, context)) ?? files;
  const references = (await deploymentClass.inputs?.(deployment, context)) ?? [];
  const given = { ...context, ...(await content.facts(references)) };
  const adapted =
    (await bundleClass.configure?.(stored, deployment, { ...given, inputs: [] })) ?? stored;
  const objects = await deploymentClass.deployment?.(adapted, deployment, given);
  if (objects !== undefined) return objects;
  throw new TerminalError(
    `class "${deploymentClass.className}" serves Bundles, and makes no objects of their content`,
  );
}

/** The class of a deployment of such a Bundle: its own, or the plain one where it makes no objects. */
export function deploymentClassOf(bundleClass: Provisioner): Provisioner {
  return bundleClass.deployment === undefined ? plain : bundleClass;
}
