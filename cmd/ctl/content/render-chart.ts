import { knownGroups } from '../../../api/kubernetes-kinds.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  type BundleFiles,
  type ClusterFacts,
  type DeploymentContext,
  defaultLimits,
  type JsonObject,
  type KubernetesObject,
} from '../../../core/sdk.ts';
import helm from '../../../provisioners/helm/index.ts';
import { warningLogger } from '../output/loggers.ts';

export interface ChartOptions {
  /** Default: `release-name`, as with `helm template`. */
  readonly releaseName?: string;
  readonly namespace?: string;
  /** spec.config as written; the other options override it. */
  readonly config?: JsonObject;
  /** YAML that overrides the chart's own values. */
  readonly values?: string;
  readonly kubeVersion?: string;
  /** Additional to those of Kubernetes itself. */
  readonly apiVersions?: readonly string[];
}

const source = { type: 'upload', upload: {} };
const apiVersion = 'core.rukpak.io/v1alpha1';
const { className, bundle, deployment } = helm;

/** The chart in its stored form. */
export async function storedChart(files: BundleFiles): Promise<BundleFiles> {
  const object = { apiVersion, kind: 'Bundle', metadata: { name: 'chart' } } as const;
  const spec = { provisionerClassName: className, source };
  return (await bundle?.(files, { ...object, spec }, contextOf({}))) ?? files;
}

/**
 * The objects that a BundleDeployment of the chart would apply; random values differ at every call.
 */
export async function renderChart(
  files: BundleFiles,
  options: ChartOptions,
): Promise<readonly KubernetesObject[]> {
  const { releaseName = 'release-name', namespace, config, values } = options;
  const owner = {
    apiVersion,
    kind: 'BundleDeployment',
    metadata: { name: releaseName, creationTimestamp: new Date().toISOString() },
    spec: {
      provisionerClassName: className,
      template: { spec: { provisionerClassName: className, source } },
      config: {
        ...config,
        ...(values === undefined ? {} : { values }),
        ...(namespace === undefined ? {} : { releaseNamespace: namespace }),
      },
    },
  } as const;
  const stored = await storedChart(files);
  return (await deployment?.(stored, owner, contextOf(options))) ?? [];
}

function contextOf(options: ChartOptions): DeploymentContext {
  return {
    signal: new AbortController().signal,
    logger: warningLogger,
    limits: defaultLimits,
    inputs: [],
    cluster: offlineCluster(options),
  };
}

/**
 * The problem of a chart, from the error that it caused.
 * @throws the error itself when the chart is not its cause, such as for an engine that is not
 * built.
 */
export function faultOfChart(error: unknown): string {
  if (error instanceof TerminalError) return error.message;
  throw error;
}

/** Kubernetes version for which charts are rendered by default. */
const defaultKubeVersion = 'v1.36.0';

/** Versions of groups that serve more than v1. */
const moreVersions: Readonly<Record<string, readonly string[]>> = { autoscaling: ['v2'] };

/** The versions and kinds of Kubernetes itself that every API server of that version serves. */
function defaultApiVersions(): readonly string[] {
  return knownGroups
    .filter(({ group }) => group !== 'core.rukpak.io')
    .flatMap(({ group, namespaced = '', clusterScoped = '' }) => {
      const kinds = `${namespaced} ${clusterScoped}`.split(' ').filter((kind) => kind !== '');
      return ['v1', ...(moreVersions[group] ?? [])].flatMap((version) => {
        const groupVersion = group === '' ? version : `${group}/${version}`;
        return [groupVersion, ...kinds.map((kind) => `${groupVersion}/${kind}`)];
      });
    });
}

interface OfflineClusterOptions {
  readonly kubeVersion?: string;
  /** Additional to those of Kubernetes itself. */
  readonly apiVersions?: readonly string[];
}

/** Facts about the cluster for classes, when there is no cluster. */
export function offlineCluster({
  kubeVersion = defaultKubeVersion,
  apiVersions = [],
}: OfflineClusterOptions): ClusterFacts {
  return {
    version: kubeVersion,
    apiVersions: [...new Set([...defaultApiVersions(), ...apiVersions])].toSorted(),
    systemNamespace: 'rukpak-system',
  };
}
