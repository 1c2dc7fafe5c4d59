export { drawHtml } from './html-drawing.ts';
export { type ListedPackage, listedBundles, listedChannels, listedPackages } from './listing.ts';
export { drawMermaid, type MermaidOptions } from './mermaid.ts';
export type { PackageChannel, Reach, ReachedEntry } from './package-channel.ts';
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
