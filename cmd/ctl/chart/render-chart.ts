import {
  type BundleFiles,
  type DeploymentContext,
  defaultLimits,
  type JsonObject,
  type KubernetesObject,
} from '../../../core/sdk.ts';
import helm from '../../../provisioners/helm/index.ts';
import { warningLogger } from '../warning-logger.ts';
import { offlineCluster } from './default-cluster.ts';

export interface ChartOptions {
  /** `release-name` where absent, as with `helm template`. */
  readonly releaseName?: string;
  readonly namespace?: string;
  /** spec.config as written; what is said beside it counts more. */
  readonly config?: JsonObject;
  /** YAML over the chart's own values. */
  readonly values?: string;
  readonly kubeVersion?: string;
  /** Besides those of Kubernetes itself. */
  readonly apiVersions?: readonly string[];
}

const source = { type: 'upload', upload: {} };
const apiVersion = 'core.rukpak.io/v1alpha1';
const { className, bundle, deployment } = helm;

/** The chart in the form in which it is stored. */
export async function storedChart(files: BundleFiles): Promise<BundleFiles> {
  const object = { apiVersion, kind: 'Bundle', metadata: { name: 'chart' } } as const;
  const spec = { provisionerClassName: className, source };
  return (await bundle?.(files, { ...object, spec }, contextOf({}))) ?? files;
}

/** What a BundleDeployment of the chart would apply; random values are others at every call. */
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
