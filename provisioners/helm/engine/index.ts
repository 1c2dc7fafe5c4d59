export type { Chart, ChartDependency } from './chart.ts';
export type { ChartEngine } from './chart-engine.ts';
export type { ChartFiles } from './chart-files.ts';
export { type ChartEngineOptions, loadChartEngine } from './load-chart-engine.ts';
export type { ChartRelease, RenderRequest, ValuesDocument } from './render-request.ts';
export type {
  HookDeletePolicy,
  HookEvent,
  RenderedChart,
  RenderedFile,
  RenderedHook,
} from './rendered-chart.ts';
