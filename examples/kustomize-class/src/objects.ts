import { parseManifests, TerminalError } from 'rukpak-ts/sdk';
import { isFields } from './fields.ts';
import type { Folder } from './folder.ts';
import { anItem, type Item, withoutEmptyAnnotations } from './item.ts';
import { quoted } from './quoted.ts';
import type { Value } from './value.ts';

/** The objects of a file of manifests. */
export function readObjects(folder: Folder, entry: Value): readonly Item[] {
  const { path, content } = folder.file(entry);
  return parseManifests(path, content).map((object) => {
    const { kind, apiVersion, metadata } = object;
    if (typeof metadata.name !== 'string' || apiVersion === '')
      throw new TerminalError(`${path}: a ${kind} has no apiVersion or no metadata.name`);
    refuseDirectives(path, metadata.annotations);
    return withoutEmptyAnnotations(anItem(object));
  });
}

// Kustomize takes these as orders to itself, of which none is heeded here.
function refuseDirectives(path: string, annotations: unknown): void {
  const names = isFields(annotations) ? Object.keys(annotations) : [];
  const directive = names.find((name) => /(^|\.)config\.(kubernetes|k8s)\.io\//.test(name));
  if (directive !== undefined)
    throw new TerminalError(
      `${path}: annotation ${quoted(directive)} is not supported by this class`,
    );
}
