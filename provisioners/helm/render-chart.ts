import type {
  BundleDeployment,
  BundleFiles,
  ClusterFacts,
  DeploymentContext,
  KubernetesObject,
} from '../../core/sdk.ts';
import { chartFiles } from './chart-root.ts';
import { parseConfig } from './config/parse-config.ts';
import { chartObjects } from './objects/chart-objects.ts';
import type { LoadEngine } from './shared-engine.ts';
import { chartValues } from './values/chart-values.ts';
import { errorWithoutSecrets, withoutSecrets } from './values/without-secrets.ts';

export interface RenderCall {
  readonly files: BundleFiles;
  readonly deployment: BundleDeployment;
  readonly context: DeploymentContext;
}

/**
 * The objects of a chart with the deployment's values. Like `helm template` it knows of no release
 * before this one: `.Release.IsInstall` is true for upgrades too.
 */
export async function renderChart(
  { files, deployment, context }: RenderCall,
  loadEngine: LoadEngine,
): Promise<readonly KubernetesObject[]> {
  const { inputs, seed, limits, signal, logger } = context;
  const config = parseConfig(deployment.spec.config, logger);
  const values = chartValues(config, inputs);
  const { version, apiVersions, systemNamespace } = factsOf(context);
  const { releaseNamespace } = config;
  const engine = await loadEngine();
  signal.throwIfAborted();
  try {
    const chart = engine.render({
      files: chartFiles(files),
      values: values.documents,
      release: {
        name: deployment.metadata.name ?? '',
        namespace: releaseNamespace ?? systemNamespace,
      },
      kubeVersion: version,
      apiVersions,
      ...(seed === undefined ? {} : { seed }),
      now: timeOf(deployment),
      lookup: config.lookup === 'Empty' ? 'empty' : 'refuse',
    });
    for (const warning of chart.warnings) {
      logger.warn({ warning: withoutSecrets(warning, values.secrets) }, 'the chart has a warning');
    }
    return chartObjects(chart, {
      crds: config.crds,
      maxObjects: limits.maxEntries,
      ...(releaseNamespace === undefined ? {} : { namespace: releaseNamespace }),
    });
  } catch (error) {
    throw errorWithoutSecrets(error, values.secrets);
  }
}

/** Templates that ask for the time must render the same as long as the deployment is the same one. */
function timeOf({ metadata }: BundleDeployment): Date {
  return new Date(metadata.creationTimestamp ?? 0);
}

function factsOf({ cluster }: DeploymentContext): ClusterFacts {
  if (cluster !== undefined) return cluster;
  throw new Error('the class uses facts of the cluster, and its manager gives it none');
}
