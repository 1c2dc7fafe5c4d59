import type { BundleFiles, KubernetesObject } from '../../core/sdk.ts';
import { classNameOf, helmClass } from '../../provisioners/class-of-content.ts';
import type { ChartOptions } from './chart/render-chart.ts';
import { type RenderOptions, renderBundle } from './render-bundle.ts';

export interface RenderContentOptions extends RenderOptions {
  /** What a chart is rendered with. */
  readonly chart?: ChartOptions;
}

/**
 * The objects that a BundleDeployment of any built-in class would apply, as far as they are known
 * without a cluster.
 * @throws TerminalError with the message that the conditions would have.
 */
export async function renderContent(
  files: BundleFiles,
  options: RenderContentOptions,
): Promise<readonly KubernetesObject[]> {
  if (classNameOf(files, options.className) !== helmClass) return renderBundle(files, options);
  // Not needed for the other classes.
  const { renderChart } = await import('./chart/render-chart.ts');
  const { installNamespace: namespace, config } = options;
  return await renderChart(files, {
    ...options.chart,
    ...(config === undefined ? {} : { config }),
    ...(namespace === undefined ? {} : { namespace }),
  });
}
