import { compareBytes } from '../../../api/byte-order.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { TerminalError } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import type { Blob } from '../../blobs/index.ts';
import { outlineOf, type PackageOutline } from '../catalog-outline.ts';
import { Dependencies } from './dependencies.ts';
import { KeptPackage } from './kept-package.ts';
import { PrunedPackage, prunedBlob } from './pruned-blob.ts';
import type { CatalogSelection } from './selection.ts';

interface PruneOptions {
  /**
   * Called with sentences: which unselected bundles are kept and why, and what the catalog lacks.
   */
  readonly note?: (text: string) => void;
}

/**
 * The blobs of a catalog that a selection keeps, in their order: bundles, channels with their kept
 * entries, packages, deprecations, and blobs of other schemas that have a kept package or none.
 * Also keeps dependencies, and bundles on upgrade paths. Edges stay unchanged: a channel's last
 * entry may replace a removed one, which OLM permits. A valid catalog stays valid. Reads the source
 * twice, and keeps only names, edges and dependencies in memory.
 * @throws TerminalError for a package, channel or version that the catalog lacks
 */
export async function* pruneCatalog(
  read: () => AsyncIterable<Blob>,
  selection: CatalogSelection,
  { note = () => undefined }: PruneOptions = {},
): AsyncGenerator<Blob> {
  const packages = await prunedPackages(read(), selection, note);
  for await (const blob of read()) {
    const pruned = prunedBlob(blob, packages);
    if (pruned !== undefined) yield pruned;
  }
}

async function prunedPackages(
  blobs: AsyncIterable<Blob>,
  selection: CatalogSelection,
  note: (text: string) => void,
): Promise<ReadonlyMap<string, PrunedPackage>> {
  const outline = await outlineOf(blobs);
  const kept = selectedPackages(outline, selection);
  const reasons = selection.skipDependencies === true ? [] : new Dependencies(outline, kept).add();
  const packages = [...kept.values()].map((each) => {
    const wanted = selection.packages.get(each.outline.name) ?? selection.others;
    return new PrunedPackage(each, wanted?.defaultChannel);
  });
  for (const text of [...packages.flatMap((each) => [...each.notes()]), ...reasons]) note(text);
  return new Map(packages.map((each) => [each.name, each]));
}

function selectedPackages(
  outline: ReadonlyMap<string, PackageOutline>,
  { packages, others }: CatalogSelection,
): Map<string, KeptPackage> {
  for (const name of packages.keys()) {
    if (outline.has(name)) continue;
    const names = shortList([...outline.keys()].sort(compareBytes), 10);
    throw new TerminalError(`the catalog has no package ${goQuote(name)}: it has ${names}`);
  }
  const kept = new Map<string, KeptPackage>();
  for (const each of outline.values()) {
    const named = packages.get(each.name);
    const selected = new KeptPackage(each);
    if (named !== undefined) selected.select(named);
    else if (others !== undefined) selected.selectWhatIsThere(others);
    if (selected.channels.size > 0) kept.set(each.name, selected);
    selected.connect();
  }
  if (kept.size === 0 && others !== undefined && outline.size > 0) {
    throw new TerminalError('no package of the catalog has the selected channels and versions');
  }
  return kept;
}
