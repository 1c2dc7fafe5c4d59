import { type Fields, type Place, placesAt } from './fields.ts';
import { type Item, identityOf, metadataOf, remember } from './item.ts';
import type { Value } from './value.ts';

/** Moves all objects to the namespace of field `namespace`. */
export function setNamespace(items: readonly Item[], kustomization: Value): void {
  const namespace = kustomization.get('namespace').optionalText() ?? '';
  if (namespace === '') return;
  for (const item of items) {
    remember(item);
    const identity = identityOf(item);
    if (identity.namespace !== '') metadataOf(item)['namespace'] = namespace;
    setNamedNamespaces(item.object, `${identity.apiVersion} ${identity.kind}`, namespace);
  }
}

/** The other fields that hold an object's namespace; kustomize even renames Namespaces. */
function setNamedNamespaces(object: Fields, type: string, namespace: string): void {
  if (type === 'v1 Namespace') setAt(placesAt(object, 'metadata/name'), namespace);
  if (/^apiregistration\.k8s\.io\/\w+ APIService$/.test(type))
    setAt(placesAt(object, 'spec/service/namespace', true), namespace);
  if (/^apiextensions\.k8s\.io\/\w+ CustomResourceDefinition$/.test(type)) {
    const places = placesAt(object, 'spec/conversion/webhook/clientConfig/service/namespace');
    setAt(
      places.filter(({ owner, name }) => owner[name] !== undefined),
      namespace,
    );
  }
  if (!/ (Cluster)?RoleBinding$/.test(type)) return;
  for (const { owner } of placesAt(object, 'subjects/name'))
    if (owner['name'] === 'default') owner['namespace'] = namespace;
}

function setAt(places: Iterable<Place>, value: string): void {
  for (const { owner, name } of places) owner[name] = value;
}
