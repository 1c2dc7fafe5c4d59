import type { ObjectEvent } from '../../contracts/event-sink.ts';
import type { ObjectKey, Resource } from '../../platform/kube/index.ts';
import { objectPath } from '../objects/object-id.ts';

/** The API server takes 1024 bytes of a message; the rest of it needs some. */
const longestList = 600;

export interface ToldObject {
  readonly resource: Pick<Resource, 'kind'>;
  readonly key: ObjectKey;
}

/** Events that name all of these objects, as many at once as a message holds. */
export function objectEvents(
  objects: readonly ToldObject[],
  { reason, message }: { readonly reason: string; readonly message: (list: string) => string },
): readonly ObjectEvent[] {
  const lists: string[] = [];
  for (const { resource, key } of objects) {
    const path = objectPath(resource.kind, key);
    const last = lists.at(-1);
    if (last === undefined || last.length + path.length > longestList) lists.push(path);
    else lists[lists.length - 1] = `${last}, ${path}`;
  }
  return lists.map((list) => ({ type: 'Normal', reason, message: message(list) }));
}
