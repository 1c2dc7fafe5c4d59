export { drawHtml } from './drawing/html-drawing.ts';
export { drawSvg } from './drawing/svg-drawing.ts';
export { drawText, type TextDrawing, type TextLine, titleOf } from './drawing/text-drawing.ts';
export { type ListedPackage, listedBundles, listedChannels, listedPackages } from './listing.ts';
export { drawMermaid, type MermaidOptions } from './mermaid.ts';
export type { PackageChannel, Reach, ReachedEntry } from './package-channel.ts';
export { type BundleNode, type PackageGraph, packageGraph } from './package-graph.ts';
export {
  CollectedGraph,
  type GraphBundle,
  type GraphPackage,
  type UpgradeGraph,
  upgradeGraph,
} from './upgrade-graph.ts';
