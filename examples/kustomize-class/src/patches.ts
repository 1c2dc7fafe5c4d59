import { type JsonValue, parseManifests, parseYaml } from 'rukpak-ts/sdk';
import type { Folder } from './folder.ts';
import { anItem, described, type Item, identityOf, isSame, metadataOf, remember } from './item.ts';
import { applyJsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { selected } from './patch-target.ts';
import type { Value } from './value.ts';

/** Applies `patches`: JSON patches, which are lists, and strategic merge patches, which are objects. */
export function applyPatches(items: readonly Item[], kustomization: Value, folder: Folder): void {
  for (const entry of kustomization.get('patches').list()) {
    entry.onlyHas('patch', 'path', 'target');
    const { source, content } = textOf(entry, folder);
    const patch = parseYaml(content);
    if (Array.isArray(patch)) patchByJson(items, entry, patch as readonly JsonValue[]);
    else patchByMerge(items, entry, readPatches(source, content));
  }
}

function textOf(entry: Value, folder: Folder): { source: string; content: Uint8Array } {
  const [patch, path] = [entry.get('patch'), entry.get('path')];
  if (patch.isThere === path.isThere) throw entry.refused('must have either "patch" or "path"');
  if (patch.isThere) return { source: entry.file, content: Buffer.from(patch.text()) };
  const { path: source, content } = folder.file(path);
  return { source, content };
}

function readPatches(source: string, content: Uint8Array): readonly Item[] {
  return parseManifests(source, content).map((object) => anItem(object));
}

function patchByJson(items: readonly Item[], entry: Value, patch: readonly JsonValue[]): void {
  const target = entry.get('target');
  if (!target.isThere) throw target.refused('is missing: a JSON patch needs one');
  for (const item of selected(items, target)) {
    remember(item);
    applyJsonPatch(item, patch, entry);
  }
}

function patchByMerge(items: readonly Item[], entry: Value, patches: readonly Item[]): void {
  const target = entry.get('target');
  if (target.isThere && patches.length > 1)
    throw entry.refused('has a target for more than one patch');
  for (const patch of patches) {
    const targets = target.isThere ? selected(items, target) : [theOne(items, patch, entry)];
    for (const item of targets) mergeInto(item, patch, entry);
  }
}

/** The object that is, or once was, what the patch says. */
function theOne(items: readonly Item[], patch: Item, entry: Value): Item {
  const wanted = identityOf(patch);
  const [found, second] = items.filter((item) =>
    [...item.formerly, identityOf(item)].some((identity) => isSame(identity, wanted)),
  );
  if (found === undefined) throw entry.refused(`patches ${described(wanted)}, which is not there`);
  if (second !== undefined) throw entry.refused(`patches ${described(wanted)}, which are two`);
  return found;
}

// A patch changes neither the kind nor the name nor the namespace.
function mergeInto(item: Item, patch: Item, entry: Value): void {
  const { name, namespace } = metadataOf(item);
  const { kind } = item.object;
  mergePatch(item, structuredClone(patch.object), entry);
  item.object['kind'] = kind;
  const metadata = metadataOf(item);
  metadata['name'] = name;
  if (namespace === undefined) delete metadata['namespace'];
  else metadata['namespace'] = namespace;
}
