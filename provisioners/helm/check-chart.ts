import {
  type BundleFiles,
  errorMessage,
  type ProvisionerContext,
  TerminalError,
} from '../../core/sdk.ts';
import { chartFiles, inOneFolder } from './chart-root.ts';
import type { ChartEngine } from './engine/index.ts';
import { unpackedChart } from './packed-chart.ts';
import type { LoadEngine } from './shared-engine.ts';

/**
 * Content that is a chart, in the form in which it is stored.
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
  inspect(engine, content);
  return content;
}

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
