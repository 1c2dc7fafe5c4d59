import { isDeepStrictEqual } from 'node:util';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { type KubernetesObject, stringifyJson } from '../../../core/sdk.ts';
import { supportedKinds, withServedApiVersion } from '../bundle/kinds.ts';
import { identityOf, objectName, objectPath } from '../bundle/objects.ts';
import type { BundleProblem, RegistryBundle } from '../bundle/registry-bundle.ts';
import { adaptedObjects } from '../generators/other-objects.ts';
import type { Installation } from '../installation.ts';

/** The cluster would keep only one of two different definitions of a kind. */
export function* uniqueCrds({ crds }: RegistryBundle): Generator<BundleProblem, void> {
  const seen = new Map<string, KubernetesObject>();
  for (const item of crds) {
    const name = objectName(item);
    const other = seen.get(name);
    // Equal definitions in two files are allowed.
    if (other !== undefined && stringifyJson(other) !== stringifyJson(item)) {
      const message = `bundle contains duplicate custom resource definition '${name}'; keep one of them in manifests/`;
      yield { message, item };
    }
    seen.set(name, item);
  }
}

/**
 * The cluster would have only one of two objects that differ in their namespaces and contents,
 * because both move to the install namespace. Of one that is written twice the last counts.
 */
export function* distinctWhenMoved(
  bundle: RegistryBundle,
  installation: Installation,
): Generator<BundleProblem, void> {
  const named = adaptedObjects(bundle, installation).filter(
    ({ written }) => objectName(written) !== '',
  );
  const last = new Map(
    named.map((object) => [identityOf(withServedApiVersion(object.written)), object]),
  );
  const groups = Map.groupBy(last.values(), ({ adapted }) => identityOf(adapted));
  for (const [first, ...others] of groups.values()) {
    for (const { written: item, adapted } of others) {
      if (first === undefined || isDeepStrictEqual(adapted, first.adapted)) continue;
      if (isLeftOut(first.adapted) && isLeftOut(adapted)) continue;
      const message = `bundle contains ${item.kind} '${objectPath(first.written)}' and a different ${item.kind} '${objectPath(item)}', which become one object when core moves them to the install namespace; rename one of them in manifests/, or remove it`;
      yield { message, item };
    }
  }
}

function isLeftOut({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.[annotation.leftOut] !== undefined;
}

/** A bundle may contain only kinds in supportedKinds. */
export function* onlySupportedKinds({ others }: RegistryBundle): Generator<BundleProblem, void> {
  for (const item of others) {
    if (supportedKinds.has(item.kind)) continue;
    const message = `bundle contains unsupported resource: Name: ${objectName(item)}, Kind: ${item.kind}`;
    yield { message, item };
  }
}

const gone = 'apiextensions.k8s.io/v1beta1';

/**
 * CRDs must have the served version: changing only the version of a v1beta1 CRD does not make a
 * valid v1 one, and the cluster would refuse it after everything else is installed.
 */
export function* servedCrdVersion({ crds }: RegistryBundle): Generator<BundleProblem, void> {
  const old = crds.filter(({ apiVersion }) => apiVersion === gone);
  const [item] = old;
  if (item === undefined) return;
  const are = old.length === 1 ? 'is' : 'are';
  const message = `bundle contains CustomResourceDefinitions that no cluster since Kubernetes 1.22 takes: ${listed(old.map(objectName))} ${are} of ${gone}; take a later version of the operator, or have its CRDs rewritten for apiextensions.k8s.io/v1`;
  yield { message, item };
}

const maxListed = 5;

function listed(names: readonly string[]): string {
  const more = names.length - maxListed;
  const shown = names.slice(0, maxListed).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
