import type { JsonObject } from '../../../api/json.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  distinctObjects,
  type ManifestParser,
  withoutLeftOut,
} from '../../../core/manifests/index.ts';
import {
  type BundleFiles,
  type ClusterFacts,
  type KubernetesObject,
  readPlainBundle,
} from '../../../core/sdk.ts';
import { classNameOf, helmClass } from '../../../provisioners/class-of-content.ts';
import {
  convertRegistryBundle,
  parseConfig,
  type RegistryConfig,
} from '../../../provisioners/registry/index.ts';
import { warningLogger } from '../output/loggers.ts';
import type { ChartOptions } from './render-chart.ts';

export interface RenderContentOptions extends RenderOptions {
  /** Options for rendering a chart. */
  readonly chart?: ChartOptions;
}

/**
 * The objects that a BundleDeployment of any built-in class would apply, as far as they are known
 * without a cluster.
 * @throws TerminalError with the message of the conditions.
 */
export async function renderContent(
  files: BundleFiles,
  options: RenderContentOptions,
): Promise<readonly KubernetesObject[]> {
  if (classNameOf(files, options.className) !== helmClass) return renderBundle(files, options);
  // The other classes do not need it.
  const { renderChart } = await import('./render-chart.ts');
  const { installNamespace: namespace, config } = options;
  return await renderChart(files, {
    ...options.chart,
    ...(config === undefined ? {} : { config }),
    ...(namespace === undefined ? {} : { namespace }),
  });
}

interface RenderOptions extends RegistryConfigOptions {
  /** A class's name, or its part after `core-rukpak-io-` (default: detected from the content). */
  readonly className?: string;
  /** Known facts about the target cluster; registry bundles are checked against them. */
  readonly cluster?: ClusterFacts;
  /** Reads one manifest file (default: that of the class). */
  readonly parse?: ManifestParser;
}

type Renderer = (files: BundleFiles, options: RenderOptions) => readonly KubernetesObject[];

/**
 * Each calls a Bundle's handler and then the deployment's, without storing the content in between.
 */
const renderers: ReadonlyMap<string, Renderer> = new Map<string, Renderer>([
  ['core-rukpak-io-plain', renderPlain],
  ['core-rukpak-io-registry', renderRegistry],
]);

/**
 * The objects that a BundleDeployment of this content would apply, as far as they are known without
 * a cluster: plain objects without a namespace stay as written. Not for charts, which need an
 * engine: see `renderContent`.
 * @throws TerminalError with the message of the Bundle's Unpacked condition.
 */
export function renderBundle(
  files: BundleFiles,
  options: RenderOptions,
): readonly KubernetesObject[] {
  return withoutLeftOut(renderAnnotated(files, options)).objects;
}

/** The same, with the objects that the class has annotated to be left out. */
export function renderAnnotated(
  files: BundleFiles,
  options: RenderOptions,
): readonly KubernetesObject[] {
  const className = classNameOf(files, options.className);
  const renderer = renderers.get(className);
  if (renderer !== undefined) return renderer(files, options);
  throw new TerminalError(`class "${className}" cannot be rendered here`);
}

function renderPlain(
  files: BundleFiles,
  { config, parse }: RenderOptions,
): readonly KubernetesObject[] {
  if (config === undefined) {
    const manifests = readPlainBundle(files, parse === undefined ? {} : { parse });
    return distinctObjects(manifests);
  }
  throw new TerminalError(
    '--config: plain content is applied as written, whatever spec.config has',
  );
}

function renderRegistry(files: BundleFiles, options: RenderOptions): readonly KubernetesObject[] {
  const { cluster, parse } = options;
  const config = registryConfigOf(options);
  return convertRegistryBundle(files, {
    ...(parse === undefined ? {} : { parse }),
    ...(config === undefined ? {} : { config }),
    ...(cluster === undefined ? {} : { cluster }),
  });
}

interface RegistryConfigOptions {
  /** spec.config as written. */
  readonly config?: JsonObject;
  /** Overrides its installNamespace. */
  readonly installNamespace?: string;
}

/**
 * The config of a registry bundle; undefined without any option, which differs from an empty
 * spec.config.
 * @throws TerminalError that names the field.
 */
export function registryConfigOf({
  config,
  installNamespace,
}: RegistryConfigOptions): RegistryConfig | undefined {
  if (config === undefined && installNamespace === undefined) return undefined;
  return parseConfig(
    { ...config, ...(installNamespace === undefined ? {} : { installNamespace }) },
    warningLogger,
  );
}
