import type { Chart } from './chart.ts';
import type { ChartFiles } from './chart-files.ts';
import type { RenderRequest } from './render-request.ts';
import type { RenderedChart } from './rendered-chart.ts';

/**
 * Helm's own engine. It does its work at once and holds up the process that it runs in: callers run
 * in a worker process, and whoever runs that one bounds the time.
 */
export interface ChartEngine {
  /**
   * Reads a chart and checks what can be checked without values: Chart.yaml, values.yaml, subcharts
   * that are declared and not there, and that it is a chart that can be installed.
   * @throws TerminalError with Helm's own text.
   */
  inspect(files: ChartFiles): Chart;
  /**
   * What `helm template` makes of the chart.
   * @throws TerminalError with Helm's own text; also where a `lookup` was refused, or where the chart
   * needs more memory than the engine is given.
   */
  render(request: RenderRequest): RenderedChart;
}
