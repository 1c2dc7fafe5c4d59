import { parseJson, stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Kubectl } from './kubectl.ts';

/** `kubectl`'s unmistakable names of the kinds of these objects, such as `Role.v1.rbac…`. */
function kindsOf(objects: readonly KubernetesObject[]): string {
  const kinds = objects.map(({ apiVersion, kind }) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    return `${kind}.${version}.${group}`;
  });
  return [...new Set(kinds)].join(',');
}

/** `apps/v1 Deployment namespace/name` of each object, sorted. */
export function identitiesOf(objects: readonly KubernetesObject[]): readonly string[] {
  return objects
    .map(({ apiVersion, kind, metadata: { namespace = '', name } }) => {
      return `${apiVersion} ${kind} ${namespace}/${name}`;
    })
    .toSorted();
}

/** The objects of a deployment in the cluster, among the kinds of these objects. */
export async function ownedObjects(
  kubectl: Kubectl,
  deployment: string,
  objects: readonly KubernetesObject[],
): Promise<readonly KubernetesObject[]> {
  return await kubectl.list(kindsOf(objects), `core.rukpak.io/owner-name=${deployment}`);
}

/**
 * The changes that applying the objects again would make, with each object before and after, by the
 * API server's dry run. Empty when everything is as written.
 */
export async function missingContent(
  kubectl: Kubectl,
  objects: readonly KubernetesObject[],
): Promise<readonly (readonly [object, object])[]> {
  const items = objects.map((object) => stringifyJson(object));
  const list = `{"apiVersion":"v1","kind":"List","items":[${items.join(',')}]}`;
  const flags = ['--server-side', '--dry-run=server', '--force-conflicts', '--field-manager=check'];
  const applied = itemsOf(await kubectl.must(['apply', ...flags, '-o=json', '-f=-'], list));
  const live = itemsOf(await kubectl.must(['get', '-o=json', '-f=-'], list));
  return live
    .map((object, index) => [writtenPart(object), writtenPart(applied[index] ?? object)] as const)
    .filter(([before, after]) => stringifyJson(before) !== stringifyJson(after));
}

function itemsOf(output: string): readonly KubernetesObject[] {
  const answer = parseJson(output) as unknown as KubernetesObject;
  return answer.kind === 'List' ? (answer['items'] as readonly KubernetesObject[]) : [answer];
}

/** Without what the server keeps on its own account. */
function writtenPart(object: KubernetesObject): object {
  const own = new Set(['managedFields', 'resourceVersion', 'generation']);
  const metadata = Object.entries(object.metadata).filter(([field]) => !own.has(field));
  const body = Object.entries(object).filter(([field]) => field !== 'status');
  return { ...Object.fromEntries(body), metadata: Object.fromEntries(metadata) };
}
