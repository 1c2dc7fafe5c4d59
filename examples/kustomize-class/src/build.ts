import type { ContentLimits, KubernetesObject } from 'rukpak-ts/sdk';
import { TerminalError } from 'rukpak-ts/sdk';
import { addHash } from './content-hash.ts';
import type { Folder } from './folder.ts';
import { generated } from './generators.ts';
import { setImages } from './images.ts';
import { described, type Item, identityOf } from './item.ts';
import { readKustomization } from './kustomization.ts';
import { addAnnotations, addLabels } from './labels.ts';
import { addPrefixAndSuffix } from './names.ts';
import { setNamespace } from './namespace.ts';
import { readObjects } from './objects.ts';
import { applyPatches } from './patches.ts';
import { quoted } from './quoted.ts';
import { updateReferences } from './references.ts';
import { setReplicas } from './replicas.ts';
import type { Value } from './value.ts';

type Step = (items: readonly Item[], kustomization: Value, folder: Folder) => void;

/** What a kustomization does with its objects, those of its bases included, in kustomize's order. */
const steps: readonly Step[] = [
  applyPatches,
  setNamespace,
  addPrefixAndSuffix,
  addLabels,
  addAnnotations,
  setReplicas,
  setImages,
];

/** The objects that `kubectl kustomize` prints for a folder. */
export function build(folder: Folder, limits: ContentLimits): readonly KubernetesObject[] {
  const items = itemsOf(folder, { trail: [], built: [], limits });
  if (items.length === 0)
    throw new TerminalError(`folder ${quoted(folder.path)} builds zero objects`);
  for (const item of items) addHash(item);
  refuseTwins(items, folder);
  updateReferences(items);
  return items.map(({ object }) => object as unknown as KubernetesObject);
}

interface Way {
  /** The folders that led here. */
  readonly trail: readonly string[];
  /** All folders so far: bases of bases that are named twice double with each level. */
  readonly built: string[];
  readonly limits: ContentLimits;
}

function itemsOf(folder: Folder, { trail, built, limits }: Way): readonly Item[] {
  const way = { trail: [...trail, folder.path], built, limits };
  if (built.push(folder.path) > limits.maxEntries)
    throw new TerminalError(
      `more than ${limits.maxEntries} folders are built, bases of bases included`,
    );
  if (trail.includes(folder.path))
    throw new TerminalError(`bases lead back to themselves: ${way.trail.join(' -> ')}`);
  const kustomization = readKustomization(folder);
  const items: Item[] = [];
  for (const entry of kustomization.get('resources').list()) {
    const base = folder.folder(entry);
    items.push(...(base === undefined ? readObjects(folder, entry) : itemsOf(base, way)));
    if (items.length > limits.maxEntries)
      throw entry.refused(`brings more than ${limits.maxEntries} objects`);
  }
  refuseTwins(items, folder);
  items.push(...generated(kustomization, folder, items));
  for (const step of steps) step(items, kustomization, folder);
  refuseTwins(items, folder);
  return items;
}

function refuseTwins(items: readonly Item[], folder: Folder): void {
  const seen = new Map<string, Item>();
  for (const item of items) {
    const identity = identityOf(item);
    const key = JSON.stringify(identity);
    if (seen.has(key))
      throw new TerminalError(`folder ${quoted(folder.path)} has two of ${described(identity)}`);
    seen.set(key, item);
  }
}
