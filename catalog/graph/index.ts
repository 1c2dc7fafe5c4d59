export { bundleRows, channelRows, packageRows } from './listing.ts';
export { drawMermaid, type MermaidOptions } from './mermaid.ts';
export {
  CollectedGraph,
  type GraphBundle,
  type GraphPackage,
  type UpgradeGraph,
  upgradeGraph,
} from './upgrade-graph.ts';
