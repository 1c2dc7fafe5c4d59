/**
 * A chart's content by path: `Chart.yaml` lies at the root. Files that .helmignore names are left
 * out by the engine; archives of subcharts (`charts/*.tgz`) are opened by it.
 */
export type ChartFiles = ReadonlyMap<string, Uint8Array>;
