import type { BundleFiles } from '../../core/sdk.ts';
import { chartFiles } from './chart-root.ts';
import { packedFile } from './packed-chart.ts';

/** Whether content looks like a chart, packed or not. */
export function isChart(content: BundleFiles): boolean {
  return chartFiles(content).has('Chart.yaml') || packedFile(content) !== undefined;
}
