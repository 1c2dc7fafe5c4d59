import type { ObjectKey } from '../kube/index.ts';

/** `namespace/name`, or `name` for cluster-scoped objects: the keys of caches and queues. */
export function formatKey({ namespace, name }: ObjectKey): string {
  return namespace ? `${namespace}/${name}` : name;
}

export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return slash === -1
    ? { name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
