import { type Fields, isFields } from './fields.ts';
import { type Item, identityOf } from './item.ts';
import { quoted } from './quoted.ts';
import type { Value } from './value.ts';

const scalable = ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'];

/** Sets how many replicas the objects have that `replicas` names, by any name they ever had. */
export function setReplicas(items: readonly Item[], kustomization: Value): void {
  for (const entry of kustomization.get('replicas').list()) {
    entry.onlyHas('name', 'count');
    const name = entry.get('name').text();
    const count = entry.get('count').number();
    const named = items.filter((item) =>
      [...item.formerly, identityOf(item)].some(
        (identity) => identity.name === name && scalable.includes(identity.kind),
      ),
    );
    if (named.length === 0)
      throw entry.refused(`names ${quoted(name)}, and nothing scalable is called so`);
    for (const { object } of named) specOf(object)['replicas'] = count;
  }
}

function specOf(object: Fields): Fields {
  return isFields(object['spec']) ? object['spec'] : (object['spec'] = {});
}
