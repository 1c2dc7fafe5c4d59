import { goQuote } from '../../../api/go-quote.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { operatorSpecSchema } from '../../../api/operators/v1alpha1/index.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import type { IndexedCache } from '../../../core/controller.ts';
import type { PackageRequest } from '../../../resolver/olm1/index.ts';
import { installationOf } from '../deployment/installation.ts';
import type { ExtensionKind } from '../extension.ts';
import { isMade, madeOperator } from './made-operator.ts';
import type { World } from './plan.ts';

export interface WorldSources {
  readonly operatorKind: ExtensionKind;
  readonly operators: Pick<IndexedCache, 'get' | 'list'>;
  readonly extensionKind: ExtensionKind;
  readonly extensions: Pick<IndexedCache, 'get' | 'list'>;
  readonly deployments: Pick<IndexedCache<BundleDeployment>, 'get'>;
}

/** The cluster as the caches have it now. */
export function worldOf(sources: WorldSources): World {
  const operators = sources.operators.list();
  const made = new Map<string, KubernetesObject>();
  for (const object of operators) {
    const { name = '', deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined && isMade(object)) made.set(name, object);
  }
  const installation = (object: KubernetesObject) => {
    const extension = sources.operatorKind.read(object);
    return installationOf(extension, sources.deployments.get({ name: extension.name }));
  };
  const installed = (name: string) => {
    const object = made.get(name);
    return object && installation(object).installed;
  };
  return {
    operators,
    extensions: sources.extensions.list(),
    made,
    ofUsers: packagesOfUsers(
      sources,
      operators.filter((each) => !isIn(made, each)),
    ),
    obstacle: (packageName) => obstacleTo(packageName, sources),
    installed,
    request: (packageName) => requestFor(packageName, sources, installed(packageName)?.image),
  };
}

function isIn(made: ReadonlyMap<string, KubernetesObject>, object: KubernetesObject): boolean {
  return made.get(object.metadata.name ?? '') === object;
}

function packagesOfUsers(
  { operatorKind, extensionKind, extensions }: WorldSources,
  operators: readonly KubernetesObject[],
): World['ofUsers'] {
  const packages = new Map<string, KubernetesObject[]>();
  const add = (kind: ExtensionKind, objects: readonly KubernetesObject[]) => {
    for (const object of objects.toSorted(byName)) {
      const { packageName } = kind.read(object).request;
      packages.set(packageName, [...(packages.get(packageName) ?? []), object]);
    }
  };
  add(operatorKind, operators);
  add(extensionKind, extensions.list());
  return (packageName) => packages.get(packageName) ?? [];
}

function byName(a: KubernetesObject, b: KubernetesObject): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/** The Operator of a package, and its BundleDeployment, have the name of the package. */
function obstacleTo(
  name: string,
  { operators, extensions, deployments }: WorldSources,
): string | undefined {
  const quoted = goQuote(name);
  if (!operatorSpecSchema.shape.packageName.safeParse(name).success) {
    return `spec.packageName of an Operator does not accept package ${quoted}: install it in another way, for example with a BundleDeployment.`;
  }
  const found = [operators.get({ name }), extensions.get({ name }), deployments.get({ name })].find(
    (each) => each !== undefined,
  );
  if (found === undefined) return undefined;
  const { kind, metadata } = found;
  return metadata.deletionTimestamp === undefined
    ? `the controller cannot create Operator ${quoted}, because ${kind} ${quoted} exists and is not for this package: create an Operator with another name for package ${quoted}.`
    : `${kind} ${quoted} is being deleted (deletion requested at ${metadata.deletionTimestamp}): the controller continues afterwards.`;
}

function requestFor(
  packageName: string,
  { operatorKind }: WorldSources,
  image: string | undefined,
): Omit<PackageRequest, 'version'> {
  const wanted = { packageName, version: '', claims: [], owners: [] };
  const { version: _, ...request } = operatorKind.read(madeOperator(wanted, undefined)).request;
  if (image === undefined) return request;
  return { ...request, installed: { by: 'image', image, deployment: packageName } };
}
