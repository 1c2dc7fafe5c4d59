import type { KubernetesObject } from '../../../api/meta.ts';
import {
  kindKey,
  lifetimeVerbs,
  type Permission,
  permissionsOn,
  resolveKinds,
} from '../../../core/apply/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { Discovery } from '../../../core/platform/kube/index.ts';
import { escalationRules } from './escalation.ts';
import type { ScopedRule } from './policy-rule.ts';

export interface NeededRequest {
  readonly objects: readonly KubernetesObject[];
  readonly discovery: Discovery;
  /** Where namespaced objects without a namespace go. */
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

/** What it takes to install, upgrade and delete some content. */
export interface NeededRules {
  /** On the objects themselves. */
  readonly permissions: readonly Permission[];
  /** So that roles and bindings among the objects may be written. */
  readonly escalation: readonly ScopedRule[];
  /** Namespaces that are among the objects. */
  readonly ownNamespaces: readonly string[];
}

/** There is no telling where objects of these kinds live. */
export class UnknownKinds extends TerminalError {}

/**
 * Works out the permissions for a bundle's objects.
 * @throws UnknownKinds that names the kinds that nobody knows.
 */
export async function neededRules(request: NeededRequest): Promise<NeededRules> {
  const { objects, discovery, systemNamespace, signal } = request;
  const { resources } = await resolveKinds(objects, discovery, signal);
  const unknown = objects.filter((object) => !resources.has(kindKey(object)));
  if (unknown.length > 0) throw unknownKinds(unknown);
  const placed = objects.flatMap((object) => {
    const resource = resources.get(kindKey(object));
    if (resource === undefined) return [];
    const { name = '', namespace } = object.metadata;
    const key = resource.namespaced ? { namespace: namespace || systemNamespace, name } : { name };
    return [{ object, resource, key, namespace: key.namespace }];
  });
  return {
    permissions: placed.flatMap((each) => permissionsOn(each, lifetimeVerbs)),
    escalation: escalationRules(placed),
    ownNamespaces: objects
      .filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace')
      .map(({ metadata }) => metadata.name ?? ''),
  };
}

function unknownKinds(objects: readonly KubernetesObject[]): UnknownKinds {
  const kinds = new Set(objects.map(({ apiVersion, kind }) => `${kind} of ${apiVersion}`));
  return new UnknownKinds(
    `no permissions can be given for kinds that neither Kubernetes, nor the bundle, nor the cluster has: ${[...kinds].toSorted().join(', ')}`,
  );
}
