import { isFields } from './fields.ts';
import { type Item, identityOf } from './item.ts';

/** Whether an object can mean the other by its name: mostly, if they are in one namespace. */
export function mayReferTo(referrer: Item, other: Item): boolean {
  const [from, to] = [identityOf(referrer), identityOf(other)];
  if (from.namespace === '' || to.namespace === '' || from.namespace === to.namespace) return true;
  return (
    from.kind === 'RoleBinding' && to.kind === 'ServiceAccount' && isSubject(referrer, to.namespace)
  );
}

function isSubject({ object: { subjects } }: Item, namespace: string): boolean {
  return (
    Array.isArray(subjects) &&
    subjects.some(
      (each) =>
        isFields(each) && each['kind'] === 'ServiceAccount' && each['namespace'] === namespace,
    )
  );
}
