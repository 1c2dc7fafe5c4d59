import { gvkOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { type DesiredObject, desiredObject } from '../../core/apply/objects/desired.ts';
import { aStoredDeployment } from './stored-objects.ts';

const clusterScoped: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);

/** An object as the engine wants to have it for deployment `demo`. */
export function aDesiredObject(object: KubernetesObject): DesiredObject {
  const gvk = gvkOf(object);
  const plural = `${gvk.kind.toLowerCase()}s`;
  const resource = { ...gvk, plural, namespaced: !clusterScoped.has(gvk.kind) };
  return desiredObject(object, resource, {
    owner: aStoredDeployment(),
    systemNamespace: 'rukpak-system',
  });
}
