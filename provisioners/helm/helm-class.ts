import { isObject } from '../../api/spec-config.ts';
import {
  type Bundle,
  type BundleDeployment,
  type BundleFiles,
  type DeploymentContext,
  errorMessage,
  type JsonValue,
  type Provisioner,
  type ProvisionerContext,
  TerminalError,
} from '../../core/sdk.ts';
import { chartFiles, inOneFolder, unpackedChart, withoutIgnoreRules } from './chart-content.ts';
import { chartObjects } from './chart-objects.ts';
import { chartValues } from './chart-values.ts';
import { type HelmConfig, parseConfig } from './config.ts';
import type { ChartEngine, RenderRequest } from './engine/chart-engine.ts';

/** Loads the engine, or returns the loaded one. */
type LoadEngine = () => Promise<ChartEngine>;

/** The class with an engine that is loaded when the first chart comes. */
export function helmClass(loadEngine: LoadEngine): Provisioner {
  return {
    className: 'core-rukpak-io-helm',
    uses: ['cluster', 'seed'],
    bundle: async (files, bundle, context) => {
      const content = await storedContent(files, bundle, context);
      inspect(await ready(loadEngine, context), content);
      return content;
    },
    inputs: async ({ spec }, { logger }) => parseConfig(spec.config, logger).valuesFrom,
    deployment: async (files, deployment, context) => {
      const config = parseConfig(deployment.spec.config, context.logger);
      const { documents, secrets } = chartValues(config, context.inputs);
      const request = renderRequest(deployment, config, context);
      const engine = await ready(loadEngine, context);
      try {
        const chart = engine.render({ ...request, files: chartFiles(files), values: documents });
        for (const warning of chart.warnings) {
          const shown = withoutSecrets(warning, secrets);
          context.logger.warn({ warning: shown }, 'the chart has a warning');
        }
        return chartObjects(chart, config, context.limits.maxEntries);
      } catch (error) {
        throw errorWithoutSecrets(error, secrets);
      }
    },
  };
}

async function storedContent(
  files: BundleFiles,
  { spec }: Bundle,
  context: ProvisionerContext,
): Promise<BundleFiles> {
  const unpacked = await unpackedChart(files, context);
  const content = inOneFolder(unpacked, context.limits);
  // The source of type image does the same with charts from `helm push`.
  const isPacked = unpacked !== files || spec.source.type === 'http';
  return isPacked ? withoutIgnoreRules(content) : content;
}

async function ready(loadEngine: LoadEngine, { signal }: ProvisionerContext): Promise<ChartEngine> {
  const engine = await loadEngine();
  signal.throwIfAborted();
  return engine;
}

/** @throws TerminalError with the text of Helm's loader, for a chart that cannot be installed. */
function inspect(engine: ChartEngine, content: BundleFiles): void {
  try {
    engine.inspect(chartFiles(content));
  } catch (error) {
    if (errorMessage(error) !== 'library charts are not installable') throw error;
    throw new TerminalError(
      'library charts are not installable: they hold definitions for other charts; install a chart that depends on it',
      { cause: error },
    );
  }
}

/**
 * The inputs of a rendering besides chart and values. As in `helm template` there is no earlier
 * release: `.Release.IsInstall` is true for upgrades too.
 */
function renderRequest(
  { metadata }: BundleDeployment,
  { releaseNamespace, lookup, templateTime }: HelmConfig,
  { cluster, seed }: DeploymentContext,
): Omit<RenderRequest, 'files' | 'values'> {
  if (cluster === undefined) {
    throw new Error('the class uses facts of the cluster, and its manager gives it none');
  }
  return {
    release: {
      name: metadata.name ?? '',
      namespace: releaseNamespace ?? cluster.systemNamespace,
    },
    kubeVersion: cluster.version,
    apiVersions: cluster.apiVersions,
    ...(seed === undefined ? {} : { seed }),
    // Templates with the time render the same for the lifetime of a deployment.
    now: templateTime ?? new Date(metadata.creationTimestamp ?? 0),
    lookup: lookup === 'Empty' ? 'empty' : 'refuse',
  };
}

/** Minimum length: shorter values occur in every text and are not worth hiding. */
const shortest = 4;
const shown = '<of a Secret>';

/**
 * A text without the values of Secrets: a chart may use them in `fail`, and a schema quotes the
 * value that it refuses.
 */
function withoutSecrets(text: string, secrets: readonly JsonValue[]): string {
  const found = new Set(secrets.flatMap(leaves).flatMap(forms));
  return [...found]
    .filter((secret) => secret.length >= shortest)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, () => shown), text);
}

/** The same for an error and its cause. */
function errorWithoutSecrets(error: unknown, secrets: readonly JsonValue[]): unknown {
  if (secrets.length === 0) return error;
  const message = withoutSecrets(errorMessage(error), secrets);
  return error instanceof TerminalError ? new TerminalError(message) : new Error(message);
}

function leaves(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => leaves(item));
  if (isObject(value)) return Object.values(value).flatMap((item) => leaves(item as JsonValue));
  if (typeof value === 'string') return [value];
  return typeof value === 'number' || typeof value === 'bigint' ? [value.toString()] : [];
}

/**
 * The forms of a value in templates and messages: unchanged, quoted, line by line, in base64 and in
 * a URL.
 */
function forms(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  return [
    text,
    quoted,
    quoted.replaceAll(/[<>&]/g, goEscape),
    ...text.split('\n'),
    Buffer.from(text).toString('base64'),
    encodeURIComponent(text.toWellFormed()),
  ];
}

/** Go's JSON escapes of characters that are special in HTML. */
function goEscape(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}
