import type { JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import { scopeOf, withOptionalKind, withServedApiVersion } from '../bundle/kinds.ts';
import { fieldOf, groupOf, isList, objectName } from '../bundle/objects.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Installation } from '../installation.ts';
import { markSamples } from '../samples.ts';
import { isMadeSecret } from '../serving.ts';
import { usedAccounts } from './permissions.ts';

/** The namespace of all namespaced objects. */
export function namespace(
  _bundle: RegistryBundle,
  { installNamespace, createsNamespace }: Installation,
): readonly KubernetesObject[] {
  if (!createsNamespace) return [];
  return [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: installNamespace } }];
}

/** All other objects of the bundle; namespaced kinds move to the install namespace. */
export function otherObjects(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return adaptedObjects(bundle, installation).map(({ adapted }) => adapted);
}

interface AdaptedObject {
  /** The object in its manifest. */
  readonly written: KubernetesObject;
  readonly adapted: KubernetesObject;
}

/** The same, each with the object that it was made of. */
export function adaptedObjects(
  bundle: RegistryBundle,
  installation: Installation,
): readonly AdaptedObject[] {
  const { others, crds, csv } = bundle;
  const { installNamespace, configured } = installation;
  const accounts = { names: ownAccounts(bundle), namespace: installNamespace };
  const adapt = (marked: KubernetesObject): KubernetesObject => {
    const served = withOptionalKind(withServedApiVersion(marked), crds);
    const bound = configured ? withOwnAccounts(served, accounts) : served;
    return scopeOf(bound, crds) === 'Namespaced' ? moved(bound, installNamespace) : bound;
  };
  const marked = markSamples(others, bundle);
  return others
    .map((written, index) => ({ written, adapted: adapt(marked[index] ?? written) }))
    .filter(({ written }) => !isMadeSecret(written, csv));
}

function ownAccounts({ csv, others }: RegistryBundle): ReadonlySet<string> {
  const shipped = others.filter(({ kind }) => kind === 'ServiceAccount');
  return new Set([...usedAccounts(csv), ...shipped.map(objectName)]);
}

// Invalid metadata spreads to nothing: the API server then reports the missing name.
function moved(object: KubernetesObject, namespace: string): KubernetesObject {
  const metadata: unknown = object.metadata;
  const kept = typeof metadata === 'object' && !Array.isArray(metadata) ? metadata : {};
  return { ...object, metadata: { ...kept, namespace } };
}

const bindingKinds: ReadonlySet<string> = new Set(['RoleBinding', 'ClusterRoleBinding']);
/** Groups of RBAC bindings; kinds of these names in other groups have other meanings. */
const bindingGroups: ReadonlySet<string> = new Set([
  'rbac.authorization.k8s.io',
  'authorization.openshift.io',
]);

/** The bundle's own ServiceAccounts, and their namespace. */
interface OwnAccounts {
  readonly names: ReadonlySet<string>;
  readonly namespace: string;
}

/**
 * A binding in the bundle names its accounts in the namespace that its author expected. Adjusts the
 * namespace of the bundle's own accounts; other subjects stay as written.
 */
function withOwnAccounts(object: KubernetesObject, accounts: OwnAccounts): KubernetesObject {
  const { apiVersion, kind } = object;
  const subjects = object['subjects'] as JsonValue | undefined;
  const isBinding = bindingKinds.has(kind) && bindingGroups.has(groupOf(apiVersion));
  if (!isBinding || !isList(subjects)) return object;
  const { namespace } = accounts;
  const here = subjects.filter((subject) => fieldOf(subject, 'namespace') === namespace);
  const bound = new Set(here.flatMap((subject) => accountOf(subject, accounts)));
  const named = new Set(subjects.flatMap((subject) => accountOf(subject, accounts)));
  const missing = [...named].filter((name) => !bound.has(name));
  if (missing.length === 0) return object;
  const added = missing.map((name) => ({ kind: 'ServiceAccount', name, namespace }));
  return { ...object, subjects: [...subjects, ...added] };
}

function accountOf(subject: JsonValue, { names }: OwnAccounts): readonly string[] {
  const name = fieldOf(subject, 'name');
  if (fieldOf(subject, 'kind') !== 'ServiceAccount' || typeof name !== 'string') return [];
  return names.has(name) ? [name] : [];
}
