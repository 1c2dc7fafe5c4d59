import { type Fields, isFields, placesAt } from './fields.ts';
import type { Item } from './item.ts';
import {
  annotationPlaces,
  type LabelPlace,
  metadataPlaces,
  selectorPlaces,
  templatePlaces,
} from './label-places.ts';
import { isOfType } from './types.ts';
import type { Value } from './value.ts';

/** Adds what `labels` and `commonLabels` say: to objects, and where asked to templates and selectors. */
export function addLabels(items: readonly Item[], kustomization: Value): void {
  for (const entry of kustomization.get('labels').list()) {
    entry.onlyHas('pairs', 'includeSelectors', 'includeTemplates');
    add(items, entry.get('pairs'), placesOf(entry));
  }
  const everywhere = [...metadataPlaces, ...templatePlaces, ...selectorPlaces];
  add(items, kustomization.get('commonLabels'), everywhere);
}

/** Adds what `commonAnnotations` says to objects and templates. */
export function addAnnotations(items: readonly Item[], kustomization: Value): void {
  add(items, kustomization.get('commonAnnotations'), annotationPlaces);
}

function placesOf(entry: Value): readonly LabelPlace[] {
  const withSelectors = entry.get('includeSelectors').flag();
  const withTemplates = withSelectors || entry.get('includeTemplates').flag();
  return [
    ...metadataPlaces,
    ...(withTemplates ? templatePlaces : []),
    ...(withSelectors ? selectorPlaces : []),
  ];
}

function add(items: readonly Item[], pairs: Value, places: readonly LabelPlace[]): void {
  const texts = pairs.texts();
  if (Object.keys(texts).length === 0) return;
  for (const { object } of items) {
    for (const [type, path, make] of places) {
      if (isOfType(String(object['apiVersion']), String(object['kind']), type))
        set(object, path, { texts, make });
    }
  }
}

interface Addition {
  readonly texts: Readonly<Record<string, string>>;
  readonly make: boolean;
}

function set(object: Fields, path: string, { texts, make }: Addition): void {
  for (const { owner, name } of placesAt(object, path, make)) {
    const present = owner[name] ?? undefined;
    if (present === undefined && !make) continue;
    owner[name] = { ...(isFields(present) ? present : {}), ...texts };
  }
}
