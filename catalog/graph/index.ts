export { drawMermaid, type MermaidOptions } from './mermaid.ts';
export {
  type GraphBundle,
  type GraphPackage,
  type UpgradeGraph,
  upgradeGraph,
} from './upgrade-graph.ts';
