import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { ApiError } from '../api-error.ts';
import type { KubeClient, RawRequest } from '../kube-client.ts';
import type { Resource } from '../resource.ts';
import { DiscoveryClient } from './discovery.ts';

function group(name: string, ...versions: object[]): object {
  return { metadata: { name }, versions };
}

function version(name: string, kinds: Readonly<Record<string, string>>, fields: object = {}) {
  const resources = Object.entries(kinds).map(([kind, resource]) => ({
    resource,
    responseKind: { group: '', version: '', kind },
    scope: kind.startsWith('Cluster') ? 'Cluster' : 'Namespaced',
    verbs: ['list', 'watch', 'delete'],
    subresources: [{ subresource: 'scale', responseKind: { group: 'autoscaling', kind: 'Scale' } }],
  }));
  return { version: name, freshness: 'Current', resources, ...fields };
}

const core = [group('', version('v1', { Pod: 'pods', Event: 'events' }))];
const groups = [
  group('apps', version('v1', { Deployment: 'deployments' })),
  group(
    'example.com',
    version('v2', { Widget: 'widgets' }),
    version('v1', { Widget: 'widgets', ClusterWidget: 'clusterwidgets' }),
  ),
  group('events.k8s.io', version('v1', { Event: 'events' })),
  group('metrics.k8s.io', version('v1beta1', {}, { freshness: 'Stale' })),
];

class Server {
  readonly requests: RawRequest[] = [];
  failures: Error[] = [];
  groups: readonly object[] = groups;
  /** CRDs and APIServices. */
  defined: readonly KubernetesObject[] = [];
  /** Whether the API server has APIServices. */
  aggregates = true;

  async answer(request: RawRequest): Promise<unknown> {
    this.requests.push(request);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const items = request.path === '/api' ? core : this.groups;
    return { kind: 'APIGroupDiscoveryList', items };
  }
}

function start(): { server: Server; discovery: DiscoveryClient; clock: ManualClock } {
  const server = new Server();
  const clock = new ManualClock();
  const client = {
    request: async (request: RawRequest) => await server.answer(request),
    list: async ({ kind }: Resource) => {
      if (kind === 'APIService' && !server.aggregates) throw new ApiError(404, {});
      return { items: server.defined.filter((each) => each.kind === kind) };
    },
    get: async ({ kind }: Resource, { name }: { readonly name: string }) => {
      const found = server.defined.find(
        (each) => each.kind === kind && each.metadata.name === name,
      );
      if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
      return found;
    },
  };
  const discovery = new DiscoveryClient(client as unknown as KubeClient, { clock });
  return { server, discovery, clock };
}

function aDefinition(name: string, kind = 'CustomResourceDefinition'): KubernetesObject {
  return { apiVersion: 'any', kind, metadata: { name } };
}

describe('DiscoveryClient', () => {
  test('finds no place to look for objects that are never kept', async () => {
    const { server, discovery } = start();
    const review = { resource: 'tokenreviews', responseKind: { kind: 'TokenReview' } };
    const resources = [{ ...review, scope: 'Cluster', verbs: ['create'] }];
    server.groups = [group('authentication.k8s.io', { version: 'v1', resources })];
    const gvk = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview' };
    expect(await discovery.resourceFor(gvk)).toMatchObject({ plural: 'tokenreviews' });
    expect(await discovery.resourceForGroupKind(gvk.group, gvk.kind)).toBeUndefined();
  });

  test('finds kinds of the core group, of groups, and their scope', async () => {
    const { discovery } = start();
    expect(await discovery.resourceFor({ group: '', version: 'v1', kind: 'Pod' })).toEqual({
      group: '',
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      namespaced: true,
    });
    const cluster = { group: 'example.com', version: 'v1', kind: 'ClusterWidget' };
    expect(await discovery.resourceFor(cluster)).toMatchObject({ namespaced: false });
    expect(await discovery.resourceFor({ ...cluster, version: 'v2' })).toBeUndefined();
    expect(await discovery.resourceFor({ ...cluster, kind: 'Scale' })).toBeUndefined();
    expect(await discovery.resourceForGroupKind('', 'Event')).toMatchObject({ group: '' });
  });

  test('lists all versions and kinds, the same array until the next discovery', async () => {
    const { server, discovery } = start();
    const served = await discovery.apiVersions();
    expect(served).toContain('v1/Pod');
    expect(served).toContain('example.com/v1/ClusterWidget');
    expect(served).toEqual([...served].sort());
    expect(await discovery.apiVersions()).toBe(served);
    server.groups = [...groups, group('new.example.com', version('v1', { New: 'news' }))];
    discovery.invalidate();
    expect(await discovery.apiVersions()).toContain('new.example.com/v1/New');
  });

  test('prefers the first version of a group that has the kind', async () => {
    const { discovery } = start();
    const preferred = await discovery.resourceForGroupKind('example.com', 'Widget');
    expect(preferred).toMatchObject({ version: 'v2' });
    const older = await discovery.resourceForGroupKind('example.com', 'ClusterWidget');
    expect(older).toMatchObject({ version: 'v1' });
    expect(await discovery.resourceForGroupKind('example.com', 'Gadget')).toBeUndefined();
  });

  test('asks once for all callers, and again only when told', async () => {
    const { server, discovery } = start();
    const widget = { group: 'example.com', version: 'v2', kind: 'Widget' };
    await Promise.all(Array.from({ length: 10 }, () => discovery.resourceFor(widget)));
    await discovery.resourceForGroupKind('nowhere', 'Nothing');
    expect(server.requests.map(({ path }) => path)).toEqual(['/api', '/apis']);
    expect(server.requests[0]?.accept).toContain('g=apidiscovery.k8s.io;v=v2;');
    server.groups = [];
    discovery.invalidate();
    expect(await discovery.resourceFor(widget)).toBeUndefined();
    expect(server.requests).toHaveLength(4);
  });

  test('does not keep an answer that was under way when told to read anew', async () => {
    const { server, discovery } = start();
    const widget = { group: 'example.com', version: 'v2', kind: 'Widget' };
    server.groups = [];
    const early = discovery.resourceFor(widget);
    discovery.invalidate();
    expect(await early).toBeUndefined();
    server.groups = groups;
    expect(await discovery.resourceFor(widget)).toMatchObject({ plural: 'widgets' });
  });

  test('does not keep a failure', async () => {
    const { server, discovery } = start();
    server.failures = [new Error('away')];
    const pod = { group: '', version: 'v1', kind: 'Pod' };
    await expect(discovery.resourceFor(pod)).rejects.toThrow('away');
    expect(await discovery.resourceFor(pod)).toMatchObject({ plural: 'pods' });
  });

  test('an aggregated server that was away from the beginning is asked again', async () => {
    const { server, discovery, clock } = start();
    const metrics = { group: 'metrics.k8s.io', version: 'v1beta1', kind: 'NodeMetrics' };
    await expect(discovery.resourceFor(metrics)).rejects.toThrow('does not answer');
    const answering = group('metrics.k8s.io', version('v1beta1', { NodeMetrics: 'nodes' }));
    server.groups = [...groups.slice(0, -1), answering];
    await expect(discovery.resourceFor(metrics)).rejects.toThrow('does not answer');
    clock.advance(5_000);
    expect(await discovery.resourceFor(metrics)).toMatchObject({ plural: 'nodes' });
    const asked = server.requests.length;
    clock.advance(3_600_000);
    await discovery.resourceFor(metrics);
    expect(server.requests).toHaveLength(asked);
  });

  test('one that stays away is asked for ever less often, once a minute in the end', async () => {
    const { server, discovery, clock } = start();
    for (let seconds = 0; seconds < 3_600; seconds += 5) {
      await discovery.apiVersions();
      clock.advance(5_000);
    }
    expect(server.requests.length).toBeLessThan(2 * 70);
    expect(server.requests.length).toBeGreaterThan(2 * 55);
  });

  test('an aggregated server that is away is an error for its own kinds alone', async () => {
    const { discovery } = start();
    const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };
    expect(await discovery.resourceFor(deployment)).toBeDefined();
    const metrics = { group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics' };
    await expect(discovery.resourceFor(metrics)).rejects.toThrow(
      'cannot tell whether metrics.k8s.io/v1beta1 has kind PodMetrics',
    );
    await expect(discovery.resourceForGroupKind('metrics.k8s.io', 'PodMetrics')).rejects.toThrow(
      'does not answer',
    );
  });

  test('one caller that gives up leaves the others their answer', async () => {
    const { discovery } = start();
    const abort = new AbortController();
    const pod = { group: '', version: 'v1', kind: 'Pod' };
    const first = discovery.resourceFor(pod, abort.signal);
    const second = discovery.resourceFor(pod);
    abort.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    expect(await second).toMatchObject({ plural: 'pods' });
  });

  test('names the version that is needed where the server is too old', async () => {
    const client = { request: async () => ({ kind: 'APIGroupList', groups: [] }) };
    const discovery = new DiscoveryClient(client as unknown as KubeClient);
    await expect(discovery.resourceForGroupKind('', 'Pod')).rejects.toThrow('Kubernetes 1.30');
  });
});

describe('a kind that was served and is missing in a new answer', () => {
  const widget = { group: 'example.com', version: 'v1', kind: 'Widget' };
  const kindName = 'example.com/v1/Widget';

  async function lose(...defined: readonly KubernetesObject[]) {
    const started = start();
    const { server, discovery } = started;
    await discovery.apiVersions();
    server.groups = groups.filter((each) => !JSON.stringify(each).includes('example.com'));
    server.defined = defined;
    discovery.invalidate();
    return started;
  }

  test.each([aDefinition('widgets.example.com'), aDefinition('v1.example.com', 'APIService')])(
    'is not gone as long as its $kind is there',
    async (definition) => {
      const { server, discovery, clock } = await lose(definition);
      for (const wait of [0, 61_000, 600_000]) {
        clock.advance(wait);
        expect(await discovery.apiVersions()).toContain(kindName);
        await expect(discovery.resourceFor(widget)).rejects.toThrow('does not list it now');
        await expect(discovery.resourceForGroupKind(widget.group, widget.kind)).rejects.toThrow();
      }
      server.groups = groups;
      clock.advance(60_000);
      expect(await discovery.resourceFor(widget)).toMatchObject({ plural: 'widgets' });
    },
  );

  test('without its CRD is not watched, and stays a fact for another minute', async () => {
    const { discovery, clock } = await lose();
    expect(await discovery.resourceFor(widget)).toBeUndefined();
    clock.advance(50_000);
    expect(await discovery.apiVersions()).toContain(kindName);
    clock.advance(60_000);
    expect(await discovery.apiVersions()).not.toContain(kindName);
  });

  test('is removed at once when its CRD is known to be deleted', async () => {
    const { discovery } = await lose(aDefinition('widgets.example.com'));
    discovery.invalidate({ group: widget.group, kind: widget.kind });
    expect(await discovery.resourceFor(widget)).toBeUndefined();
    expect(await discovery.apiVersions()).not.toContain(kindName);
  });

  test('was no loss where another version of it is served', async () => {
    const { server, discovery } = start();
    await discovery.apiVersions();
    const newer = version('v2', { Widget: 'widgets', ClusterWidget: 'clusterwidgets' });
    server.groups = [...groups, group('example.com', newer)].filter(
      (each) =>
        !JSON.stringify(each).includes(
          '"v1","freshness":"Current","resources":[{"resource":"widgets"',
        ),
    );
    discovery.invalidate();
    expect(await discovery.apiVersions()).not.toContain(kindName);
  });
});

describe('the kinds of objects in namespaces', () => {
  const answering = groups.filter((each) => !JSON.stringify(each).includes('Stale'));
  const withoutExample = answering.filter((each) => !JSON.stringify(each).includes('example.com'));

  function anEstablished(name: string, scope = 'Namespaced', status = 'True'): KubernetesObject {
    const conditions = [{ type: 'Established', status }];
    return { ...aDefinition(name), spec: { scope }, status: { conditions } };
  }

  async function kindsOf(
    served: readonly object[],
    ...defined: readonly KubernetesObject[]
  ): Promise<readonly string[]> {
    const { server, discovery } = start();
    server.groups = served;
    server.defined = defined;
    return (await discovery.namespacedResources()).map(({ kind }) => kind);
  }

  test('are all that the API server lists', async () => {
    const defined = [
      anEstablished('widgets.example.com'),
      aDefinition('v1.example.com', 'APIService'),
    ];
    const kinds = ['Pod', 'Event', 'Deployment', 'Widget', 'Event'];
    expect(await kindsOf(answering, ...defined)).toEqual(kinds);
  });

  test('are known where the API server has no APIServices', async () => {
    const { server, discovery } = start();
    server.groups = answering;
    server.aggregates = false;
    expect(await discovery.namespacedResources()).toHaveLength(5);
  });

  test.each([
    ['CustomResourceDefinition widgets.example.com', anEstablished('widgets.example.com')],
    ['APIService v1.example.com', aDefinition('v1.example.com', 'APIService')],
  ])('are unknown to a new process while the API server omits those of %s', async (name, given) => {
    const message = `${name} exists, but the API server does not list its kinds now`;
    await expect(kindsOf(withoutExample, given)).rejects.toThrow(message);
  });

  test('include none of a CRD that is cluster-scoped or was never established', async () => {
    const defined = [
      anEstablished('widgets.example.com', 'Cluster'),
      anEstablished('gadgets.example.com', 'Namespaced', 'False'),
    ];
    expect(await kindsOf(withoutExample, ...defined)).not.toContain('Widget');
  });

  test('are unknown while one that was served is missing, and its CRD exists', async () => {
    const { server, discovery } = start();
    server.groups = answering;
    server.defined = [aDefinition('widgets.example.com')];
    expect(await discovery.namespacedResources()).toHaveLength(5);
    server.groups = withoutExample;
    discovery.invalidate();
    await expect(discovery.namespacedResources()).rejects.toThrow(
      'the API server does not list kind Widget.example.com now, though its CustomResourceDefinition',
    );
    server.defined = [];
    discovery.invalidate();
    expect(await discovery.namespacedResources()).toHaveLength(4);
  });
});
