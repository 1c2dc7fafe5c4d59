import { randomBytes } from 'node:crypto';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { Validation } from '../../../catalog/bundle-checks/index.ts';
import { handlerOf } from '../../../core/classes/index.ts';
import type { DeploymentContext, Provisioner } from '../../../core/contracts/provisioner.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { checkObjectCount, withoutLeftOut } from '../../../core/manifests/index.ts';
import { withTimeLimit } from '../../../core/platform/runtime/index.ts';
import {
  type Bundle,
  type BundleFiles,
  defaultLimits,
  type InputReference,
  type JsonObject,
  type KubernetesObject,
  type ProvisionerContext,
} from '../../../core/sdk.ts';
import plain from '../../../provisioners/plain/index.ts';
import { warningLogger } from '../output/loggers.ts';
import { withCoreFlags } from './local-limits.ts';
import { type ChartOptions, offlineCluster } from './render-chart.ts';

/** The inputs of rendering besides the content and the deployment. */
export type RenderFacts = Pick<DeploymentContext, 'inputs' | 'cluster' | 'seed'>;

interface ClassContent {
  readonly files: BundleFiles;
  /** Class of the Bundle. */
  readonly bundleClass: Provisioner;
  readonly deploymentClass: Provisioner;
  readonly deployment: BundleDeployment;
  /** Reads the inputs of the deployment's class, and the facts that either class uses. */
  readonly facts: (
    references: readonly InputReference[],
    uses: ReadonlySet<'cluster' | 'seed'>,
  ) => Promise<RenderFacts>;
  readonly signal: AbortSignal;
}

/**
 * The objects that the classes render, also those that core leaves out: the Bundle's class converts
 * the content and adapts it to the deployment, and the deployment's class turns it into objects.
 * @throws Error with the message of the condition.
 */
export async function classObjects(content: ClassContent): Promise<readonly KubernetesObject[]> {
  const { files, bundleClass, deploymentClass, deployment, signal } = content;
  checkConfig(content);
  const context: ProvisionerContext = { signal, logger: warningLogger, limits: defaultLimits };
  const byBundle = limited(bundleClass);
  const byDeployment = limited(deploymentClass);
  const stored =
    (await byBundle('bundle', context, (given) =>
      bundleClass.bundle?.(files, bundleOf(content), given),
    )) ?? files;
  const references =
    (await byDeployment('inputs', context, (given) =>
      deploymentClass.inputs?.(deployment, given),
    )) ?? [];
  const uses = new Set([bundleClass, deploymentClass].flatMap((each) => each.uses ?? []));
  const facts = await content.facts(references, uses);
  const ofBundle = { ...context, ...used(bundleClass, facts), inputs: [] };
  const adapted =
    (await byBundle('configure', ofBundle, (each) =>
      bundleClass.configure?.(stored, deployment, each),
    )) ?? stored;
  const given = { ...context, ...used(deploymentClass, facts) };
  const objects = await byDeployment('deployment', given, (each) =>
    deploymentClass.deployment?.(adapted, deployment, each),
  );
  if (objects !== undefined) return objects;
  throw new TerminalError(
    `class "${deploymentClass.className}" serves Bundles, and makes no objects of their content`,
  );
}

/** Calls handlers of a class, each for as long as core would wait for it by default. */
function limited(provisioner: Provisioner) {
  return async <Context extends ProvisionerContext, T>(
    handler: Parameters<typeof handlerOf>[1],
    context: Context,
    call: (context: Context) => Promise<T> | undefined,
  ): Promise<T | undefined> => {
    const { timeout: limit } = context.limits;
    const by = () => handlerOf(provisioner, handler);
    const work = async (signal: AbortSignal) => await call({ ...context, signal });
    return await withTimeLimit(work, { limit, grace: limit / 20, signal: context.signal, by });
  };
}

/** The same refusal as core's: a class that deploys its own Bundles has the config in `deployment`. */
function checkConfig({ bundleClass, deploymentClass, deployment }: ClassContent): void {
  const { className, configure } = bundleClass;
  if (deployment.spec.config === undefined || configure !== undefined) return;
  if (className === deploymentClass.className) return;
  throw new TerminalError(
    `spec.config cannot be applied to content of class "${className}": the class has no handler "configure". Add the handler to the class, or remove spec.config`,
  );
}

/** The Bundle that core would make, as far as classes depend on it. */
function bundleOf({ bundleClass, deployment }: ClassContent): Bundle {
  const { apiVersion, metadata, spec } = deployment;
  const isConfigured = spec.config !== undefined && bundleClass.configure !== undefined;
  const marks = isConfigured ? { annotations: { [annotation.configured]: 'true' } } : {};
  const { name = '' } = metadata;
  return { apiVersion, kind: 'Bundle', metadata: { name, ...marks }, spec: spec.template.spec };
}

/** A class has no other facts in a cluster: with them it would render here alone. */
function used({ uses = [] }: Provisioner, { inputs, cluster, seed }: RenderFacts): RenderFacts {
  return {
    inputs,
    ...(cluster !== undefined && uses.includes('cluster') ? { cluster } : {}),
    ...(seed !== undefined && uses.includes('seed') ? { seed } : {}),
  };
}

/**
 * The class of a deployment of such a Bundle: the Bundle's class, or the plain one if that class
 * renders no objects.
 */
function deploymentClassOf(bundleClass: Provisioner): Provisioner {
  return bundleClass.deployment === undefined ? plain : bundleClass;
}

interface OfflineOptions {
  readonly config?: JsonObject;
  /** Namespace for objects that name none (default: core's own). */
  readonly installNamespace?: string;
  readonly chart?: Pick<ChartOptions, 'releaseName' | 'kubeVersion' | 'apiVersions'>;
}

const uploadSource = { type: 'upload', upload: {} } as const;

/**
 * The objects that a BundleDeployment would apply for content of a third party's class, as far as
 * they are known without a cluster.
 * @throws Error with the message of the conditions.
 */
export async function offlineObjects(
  files: BundleFiles,
  bundleClass: Provisioner,
  { config, installNamespace, chart = {} }: OfflineOptions = {},
): Promise<readonly KubernetesObject[]> {
  const deploymentClass = deploymentClassOf(bundleClass);
  const { className } = bundleClass;
  const deployment = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: {
      name: chart.releaseName ?? 'release-name',
      creationTimestamp: new Date().toISOString(),
    },
    spec: {
      provisionerClassName: deploymentClass.className,
      template: { spec: { provisionerClassName: className, source: uploadSource } },
      ...(config === undefined ? {} : { config }),
      ...(installNamespace === undefined ? {} : { installNamespace }),
    },
  } as const;
  const place = installNamespace === undefined ? {} : { systemNamespace: installNamespace };
  const facts = async (references: readonly InputReference[]): Promise<RenderFacts> => ({
    inputs: references.map(withoutCluster),
    cluster: { ...offlineCluster(chart), ...place },
    seed: randomBytes(32),
  });
  const signal = new AbortController().signal;
  const content = { files, bundleClass, deploymentClass, deployment, facts, signal };
  const { objects } = withoutLeftOut(await classObjects(content));
  checkObjectCount(objects.length, defaultLimits.maxEntries);
  return objects;
}

function withoutCluster({ kind, name, key, optional }: InputReference): undefined {
  if (optional === true) return undefined;
  throw new TerminalError(
    `the class asks for key "${key}" of ${kind} "${name}", which only a cluster has: rukpakctl diff reads it`,
  );
}

/** Validates content with the class itself, because only the class knows its rules. */
export async function validateOffline(
  files: BundleFiles,
  bundleClass: Provisioner,
  options: OfflineOptions,
): Promise<Validation> {
  const { className } = bundleClass;
  try {
    const { length } = await offlineObjects(files, bundleClass, options);
    return { class: className, installable: true, objects: length, problems: [] };
  } catch (error) {
    const message = withCoreFlags(errorMessage(error));
    const fix = 'correct the bundle, or its class';
    const problem = { severity: 'error', message, fix } as const;
    return { class: className, installable: false, objects: 0, problems: [problem] };
  }
}
