import { apiVersionOf, type GroupVersionKind } from '../../../../api/gvk.ts';
import { type Resource } from '../resource.ts';

/** The fields of apidiscovery.k8s.io APIGroupDiscoveryList that are read here. */
interface GroupList {
  readonly kind?: unknown;
  readonly items?: readonly Group[];
}

interface Group {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly Version[];
}

interface Version {
  readonly version: string;
  readonly freshness?: string;
  readonly resources?: readonly {
    readonly resource: string;
    readonly responseKind?: { readonly kind?: string };
    readonly scope?: string;
    readonly verbs?: readonly string[];
  }[];
}

/** The kinds that a cluster serves. */
export class DiscoveredGroups {
  readonly #resources = new Map<string, Resource>();
  /**
   * The first version of a group with the kind is the preferred one; only for kinds whose objects
   * are stored.
   */
  readonly #preferred = new Map<string, Resource>();
  /** Groups, or versions of them, whose aggregated API server did not answer. */
  readonly #stale = new Set<string>();
  readonly #namespaced = new Map<string, Resource>();
  /** Kinds that are missing in the answer, although their CRD or APIService exists. */
  readonly #missing = new Set<string>();
  /** Those of them whose objects are in namespaces, as `Kind.group`. */
  readonly #lostNamespaced = new Set<string>();
  readonly #versions = new Set<string>();
  #sorted: readonly string[] | undefined;

  /** Versions and kinds in the format of `Discovery.apiVersions`. */
  get apiVersions(): readonly string[] {
    this.#sorted ??= [...this.#versions].sort();
    return this.#sorted;
  }

  add(group: string, { version, freshness, resources = [] }: Version): void {
    if (freshness === 'Stale') this.#stale.add(group).add(`${group}/${version}`);
    const apiVersion = apiVersionOf({ group, version });
    this.#versions.add(apiVersion);
    for (const { resource: plural, responseKind, scope, verbs } of resources) {
      const kind = responseKind?.kind;
      if (!kind) continue;
      this.#versions.add(`${apiVersion}/${kind}`);
      const resource = { group, version, kind, plural, namespaced: scope === 'Namespaced' };
      addOnce(this.#resources, `${group}/${version}/${kind}`, resource);
      if (!isStored(verbs)) continue;
      addOnce(this.#preferred, `${group}/${kind}`, resource);
      if (resource.namespaced && verbs?.includes('delete')) {
        addOnce(this.#namespaced, `${group}/${kind}`, resource);
      }
    }
  }

  /** Whether an aggregated API server did not answer. */
  get isIncomplete(): boolean {
    return this.#stale.size > 0;
  }

  get resources(): readonly Resource[] {
    return [...this.#resources.values()];
  }

  /**
   * Keeps a kind that was served and is missing in the answer; `defined` when its CRD or APIService
   * exists.
   */
  keep(resources: readonly Resource[], defined: boolean): void {
    for (const { group, version, kind, namespaced } of resources) {
      const apiVersion = apiVersionOf({ group, version });
      this.#versions.add(apiVersion).add(`${apiVersion}/${kind}`);
      if (!defined) continue;
      this.#missing.add(`${group}/${kind}`).add(`${group}/${version}/${kind}`);
      if (namespaced) this.#lostNamespaced.add(`${kind}.${group}`);
    }
  }

  resourceFor({ group, version, kind }: GroupVersionKind): Resource | undefined {
    const found = this.#resources.get(`${group}/${version}/${kind}`);
    return found ?? this.#absent(`${group}/${version}`, kind);
  }

  resourceForGroupKind(group: string, kind: string): Resource | undefined {
    return this.#preferred.get(`${group}/${kind}`) ?? this.#absent(group, kind);
  }

  namespacedResources(): readonly Resource[] {
    const [silent] = this.#stale;
    if (silent !== undefined) {
      throw new Error(`the aggregated API server of ${silent} does not answer`);
    }
    const [lost] = this.#lostNamespaced;
    if (lost !== undefined) {
      throw new Error(
        `the API server does not list kind ${lost} now, though its CustomResourceDefinition or APIService exists`,
      );
    }
    return [...this.#namespaced.values()];
  }

  /** A missing kind is an answer only when the group's server has answered. */
  #absent(where: string, kind: string): undefined {
    if (this.#missing.has(`${where}/${kind}`)) {
      throw new Error(
        `cannot tell whether ${where} has kind ${kind}: the API server does not list it now, though its CustomResourceDefinition or APIService exists`,
      );
    }
    if (this.#stale.has(where)) {
      throw new Error(
        `cannot tell whether ${where} has kind ${kind}: its aggregated API server does not answer`,
      );
    }
    return undefined;
  }
}

/**
 * Minor version of the oldest Kubernetes on which rukpak-ts works: the first in which the match
 * conditions of webhooks are stable. Without them core would wait for its own webhooks.
 */
export const oldestMinor = 30;

/** @throws Error when the server is too old for aggregated discovery. */
export function groupsIn(lists: readonly unknown[]): DiscoveredGroups {
  const groups = new DiscoveredGroups();
  for (const list of lists as readonly GroupList[]) {
    if (list.kind !== 'APIGroupDiscoveryList') {
      throw new Error(
        `the API server has no aggregated discovery: Kubernetes 1.${oldestMinor} or later is needed`,
      );
    }
    for (const group of list.items ?? []) {
      for (const version of group.versions ?? []) groups.add(group.metadata?.name ?? '', version);
    }
  }
  return groups;
}

/** Reviews and bindings can only be created: there are no objects of them to find. */
function isStored(verbs: readonly string[] = ['list', 'watch']): boolean {
  return verbs.includes('list') && verbs.includes('watch');
}

function addOnce(map: Map<string, Resource>, key: string, resource: Resource): void {
  if (!map.has(key)) map.set(key, resource);
}
