import type { BundleFiles, ProvisionerContext } from '../../core/sdk.ts';
import { chartFiles, inOneFolder } from './chart-root.ts';
import type { LoadEngine } from './helm-class.ts';
import { unpackedChart } from './packed-chart.ts';

/**
 * Content that is a chart, in the form in which it is stored (spec section 8.3).
 * @throws TerminalError with the text of Helm's loader where it is none that can be installed.
 */
export async function checkChart(
  files: BundleFiles,
  context: ProvisionerContext,
  loadEngine: LoadEngine,
): Promise<BundleFiles> {
  const content = inOneFolder(await unpackedChart(files, context), context.limits);
  const engine = await loadEngine();
  context.signal.throwIfAborted();
  engine.inspect(chartFiles(content));
  return content;
}
