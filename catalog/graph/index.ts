export type { ChannelGraph, Reach, ReachedEntry } from './channel-graph.ts';
export { drawHtml } from './html-drawing.ts';
export { bundleRows, channelRows, type PackageRow, packageRows } from './listing.ts';
export { drawMermaid, type MermaidOptions } from './mermaid.ts';
export { type BundleNode, type PackageGraph, packageGraph } from './package-graph.ts';
export { drawSvg } from './svg-drawing.ts';
export { drawText, type TextDrawing, type TextLine, titleOf } from './text-drawing.ts';
export {
  CollectedGraph,
  type GraphBundle,
  type GraphPackage,
  type UpgradeGraph,
  upgradeGraph,
} from './upgrade-graph.ts';
