import { expect, test } from 'vitest';
import type { GroupVersionKind } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Discovery, Resource } from '../../platform/kube/index.ts';
import { resolveKinds } from './kinds.ts';

const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const signal = new AbortController().signal;

class FakeDiscovery implements Discovery {
  invalidations = 0;
  /** The served kinds after that many invalidations. */
  readonly #served: readonly Resource[][];

  constructor(...served: Resource[][]) {
    this.#served = served;
  }

  async resourceFor(gvk: GroupVersionKind): Promise<Resource | undefined> {
    const found = await this.resourceForGroupKind(gvk.group, gvk.kind);
    return found?.version === gvk.version ? found : undefined;
  }

  async resourceForGroupKind(group: string, kind: string): Promise<Resource | undefined> {
    const served = this.#served[Math.min(this.invalidations, this.#served.length - 1)];
    return served?.find((resource) => resource.group === group && resource.kind === kind);
  }

  invalidate(): void {
    this.invalidations += 1;
  }
}

function object(kind: string, apiVersion: string, namespace?: string): KubernetesObject {
  return { apiVersion, kind, metadata: { name: 'n', ...(namespace && { namespace }) } };
}

function definition(version: object, spec: object = {}): KubernetesObject {
  return {
    ...object('CustomResourceDefinition', 'apiextensions.k8s.io/v1'),
    spec: {
      group: 'e.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [version],
      ...spec,
    },
  };
}

const crds: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

test('served kinds need no second look', async () => {
  const discovery = new FakeDiscovery([configMaps]);
  const { problems, resources, fromBundle } = await resolveKinds(
    [object('ConfigMap', 'v1')],
    discovery,
    signal,
  );
  expect(problems).toEqual([]);
  expect([...resources.values()]).toEqual([configMaps]);
  expect(fromBundle.size).toBe(0);
  expect(discovery.invalidations).toBe(0);
});

test("kinds of the set's own CRDs count, with their scope", async () => {
  const served = { name: 'v1', served: true };
  const widget = object('Widget', 'e.com/v1');
  const discovery = new FakeDiscovery([crds]);
  const kinds = await resolveKinds([widget, definition(served)], discovery, signal);
  expect(kinds.problems).toEqual([]);
  expect(kinds.resources.get('e.com/v1|Widget')).toMatchObject({
    plural: 'widgets',
    namespaced: true,
  });
  expect([...kinds.fromBundle]).toEqual(['e.com/v1|Widget']);
  expect(kinds.present.has('e.com/v1|Widget')).toBe(false);
  const cluster = definition(served, { scope: 'Cluster' });
  const other = await resolveKinds([widget, cluster], discovery, signal);
  expect(other.resources.get('e.com/v1|Widget')?.namespaced).toBe(false);
});

test('a new version of a served kind can be looked for in the old one', async () => {
  const old: Resource = {
    group: 'e.com',
    version: 'v1',
    kind: 'Widget',
    plural: 'widgets',
    namespaced: true,
  };
  const objects = [object('Widget', 'e.com/v2'), definition({ name: 'v2', served: true })];
  const kinds = await resolveKinds(objects, new FakeDiscovery([crds, old]), signal);
  expect(kinds.resources.get('e.com/v2|Widget')?.version).toBe('v2');
  expect(kinds.present.get('e.com/v2|Widget')).toBe(old);
});

test.each([
  ['a version that is not served', definition({ name: 'v1', served: false })],
  ['another version', definition({ name: 'v2', served: true })],
  ['another group', definition({ name: 'v1', served: true }, { group: 'f.com' })],
  ['a broken CRD', definition({ name: 'v1', served: true }, { names: 'text' })],
])('a kind is unknown with %s', async (_, crd) => {
  const kinds = await resolveKinds(
    [crd, object('Widget', 'e.com/v1', 'x')],
    new FakeDiscovery([crds]),
    signal,
  );
  expect(kinds.problems).toEqual([
    'resource mapping not found for name: "n" namespace: "x" from "": no matches for kind "Widget" ' +
      'in version "e.com/v1"\nensure CRDs are installed first',
  ]);
});

test('a CRD that came meanwhile is found by asking again', async () => {
  const discovery = new FakeDiscovery([], [configMaps]);
  const { problems } = await resolveKinds([object('ConfigMap', 'v1')], discovery, signal);
  expect(problems).toEqual([]);
  expect(discovery.invalidations).toBe(1);
});

test('an optional object of a kind that nobody serves is no problem', async () => {
  const monitor = object('ServiceMonitor', 'monitoring.coreos.com/v1');
  const optional = {
    ...monitor,
    metadata: { name: 'n', annotations: { 'core.rukpak.io/optional': 'true' } },
  };
  const kind = { group: 'monitoring.coreos.com', kind: 'ServiceMonitor' };
  const without = new FakeDiscovery([configMaps]);
  expect(await resolveKinds([optional, optional], without, signal)).toMatchObject({
    omitted: [kind],
    problems: [],
  });
  expect(without.invalidations).toBe(0);
  const served = { ...configMaps, ...kind, plural: 'servicemonitors' };
  const found = await resolveKinds([optional], new FakeDiscovery([served]), signal);
  expect(found).toMatchObject({ omitted: [], problems: [] });
  const { problems } = await resolveKinds([optional, monitor], without, signal);
  expect(problems).toHaveLength(1);
});
