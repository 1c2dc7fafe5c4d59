import { randomBytes } from 'node:crypto';
import type { Validation } from '../../../catalog/bundle-checks/index.ts';
import type { Provisioner } from '../../../core/contracts/provisioner.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { checkObjectCount } from '../../../core/manifests/index.ts';
import {
  type BundleFiles,
  defaultLimits,
  type InputReference,
  type JsonObject,
  type KubernetesObject,
} from '../../../core/sdk.ts';
import { offlineCluster } from '../chart/default-cluster.ts';
import type { ChartOptions } from '../chart/render-chart.ts';
import { classObjects, deploymentClassOf, type RenderFacts } from './class-objects.ts';

export interface OfflineOptions {
  readonly config?: JsonObject;
  /** Where objects without a namespace go; core's own otherwise. */
  readonly installNamespace?: string;
  readonly chart?: Pick<ChartOptions, 'releaseName' | 'kubeVersion' | 'apiVersions'>;
}

const source = { type: 'upload', upload: {} } as const;

/**
 * What a BundleDeployment of content of a third party's class would apply, as far as it is known
 * without a cluster.
 * @throws Error with the message that the conditions would have.
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
      template: { spec: { provisionerClassName: className, source } },
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
  return await classObjects({ files, bundleClass, deploymentClass, deployment, facts, signal });
}

function withoutCluster({ kind, name, key, optional }: InputReference): undefined {
  if (optional === true) return undefined;
  throw new TerminalError(
    `the class asks for key "${key}" of ${kind} "${name}", which only a cluster has: rukpakctl diff reads it`,
  );
}

/** Whether the class takes the content, in its own words: nobody else knows its rules. */
export async function validateOffline(
  files: BundleFiles,
  bundleClass: Provisioner,
  options: OfflineOptions,
): Promise<Validation> {
  const { className } = bundleClass;
  try {
    const { length } = await offlineObjects(files, bundleClass, options);
    checkObjectCount(length, defaultLimits.maxEntries);
    return { class: className, installable: true, objects: length, problems: [] };
  } catch (error) {
    const message = errorMessage(error);
    const problem = { severity: 'error', message, fix: 'correct the bundle' } as const;
    return { class: className, installable: false, objects: 0, problems: [problem] };
  }
}
