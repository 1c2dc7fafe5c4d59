import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { JsonSchema } from '../../api/object-schema/index.ts';
import { ApiError, type ObjectKey, type Resource } from '../../core/platform/kube/index.ts';
import {
  aWidget,
  aWidgetCrd,
  crdName,
  invalidPrefix,
  judgeCrd,
  requiredSpec,
  unsafe,
  WidgetCluster,
} from '../../test/helpers/crd-upgrade-fixture.ts';
import type { AdmissionVerdict } from '../review.ts';
import { crdDeletionValidator } from './crd-validators.ts';
import type { ObjectPage } from './custom-resources.ts';

test('a schema that existing objects break is refused in the words that users know', async () => {
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), [
    aWidget({ a: 'x' }),
    aWidget({}),
  ]);
  const cause = `${invalidPrefix}existing custom object ns/w failed validation for new schema version v1: [].spec.a: Required value`;
  expect(await judgeCrd(cluster, aWidgetCrd([{ name: 'v1', spec: requiredSpec }]))).toEqual(
    unsafe(cause),
  );
  const created = await judgeCrd(cluster, aWidgetCrd([{ name: 'v1', spec: requiredSpec }]), {
    operation: 'CREATE',
  });
  expect(created).toEqual(unsafe(cause, 'CREATE'));
});

test.each<[what: string, spec: JsonSchema, type: string]>([
  ['a pattern', { type: 'object', properties: { a: { pattern: '^x' } } }, 'string'],
  ['an enum', { type: 'object', properties: { a: { enum: ['x'] } } }, 'string'],
  ['a format', { type: 'object', properties: { a: { type: 'string', format: 'date' } } }, 'string'],
  ['another type', { type: 'object', properties: { a: { type: 'integer' } } }, 'string'],
  ['a bound', { type: 'object', properties: { b: { type: 'integer', maximum: 1 } } }, 'integer'],
  [
    'a factor',
    { type: 'object', properties: { b: { type: 'integer', multipleOf: 2 } } },
    'integer',
  ],
  ['a length', { type: 'object', properties: { a: { minLength: 99 } } }, 'string'],
])('of a value that %s refuses path and type are told, not the value', async (_, spec, type) => {
  const objects = [aWidget({ a: 'hunter2', b: 47_114_711 })];
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), objects);
  const { status } = await judgeCrd(cluster, aWidgetCrd([{ name: 'v1', spec }]));
  expect(status?.reason).toMatch(/\[\]\.spec\.[ab]: /);
  expect(status?.reason).toContain(`value: "${type}": `);
  expect(status?.reason).not.toMatch(/hunter|4711/);
});

test('several faults are a list, and an object without a namespace begins with a slash', async () => {
  const both: JsonSchema = { type: 'object', required: ['a', 'b'] };
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), [aWidget({}, { name: 'w' })]);
  expect(await judgeCrd(cluster, aWidgetCrd([{ name: 'v1', spec: both }]))).toEqual(
    unsafe(
      `${invalidPrefix}existing custom object /w failed validation for new schema version v1: [[].spec.a: Required value, [].spec.b: Required value]`,
    ),
  );
});

test.each<[what: string, live: object | undefined, next: object, listed: readonly string[]]>([
  ['a CRD that is not there yet', undefined, aWidgetCrd([{ name: 'v1', spec: requiredSpec }]), []],
  ['the same schema', aWidgetCrd([{ name: 'v1' }]), aWidgetCrd([{ name: 'v1' }]), []],
  [
    'a version that was not served',
    aWidgetCrd([{ name: 'v1', served: false }]),
    aWidgetCrd([{ name: 'v1', spec: requiredSpec }]),
    [],
  ],
  [
    'a CRD that says so',
    aWidgetCrd([{ name: 'v1' }]),
    aWidgetCrd([{ name: 'v1', spec: requiredSpec }], {
      metadata: { annotations: { 'core.rukpak.io/safe-crd-upgrade-validation': 'false' } },
    }),
    [],
  ],
  [
    'a schema that all objects meet',
    aWidgetCrd([{ name: 'v1' }]),
    aWidgetCrd([{ name: 'v1', spec: { type: 'object', maxProperties: 1 } }]),
    ['v1'],
  ],
  [
    'a default for what is required',
    aWidgetCrd([{ name: 'v1' }]),
    aWidgetCrd([
      {
        name: 'v1',
        spec: { ...requiredSpec, properties: { a: { type: 'string', default: 'x' } } },
      },
    ]),
    ['v1'],
  ],
  [
    'a new version behind a conversion webhook',
    aWidgetCrd([{ name: 'v1' }]),
    aWidgetCrd([{ name: 'v1' }, { name: 'v2', spec: requiredSpec }], {
      spec: { conversion: { strategy: 'Webhook' } },
    }),
    [],
  ],
])('%s is allowed', async (_what, live, ...[next, listed]) => {
  const cluster = new WidgetCluster(live, [aWidget({})]);
  expect(await judgeCrd(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked.map(({ version }) => version)).toEqual(listed);
});

test.each([[{}], [{ conversion: { strategy: 'None' } }]])(
  'without conversion, objects of all common versions are checked against a new one: %j',
  async (spec) => {
    const live = aWidgetCrd([{ name: 'v1' }, { name: 'v1beta1' }, { name: 'v0', served: false }]);
    const versions = [{ name: 'v1' }, { name: 'v1beta1' }, { name: 'v0' }];
    const fitting = new WidgetCluster(live, [aWidget({ a: 'x' })]);
    const next = aWidgetCrd([...versions, { name: 'v2', spec: requiredSpec }], { spec });
    expect(await judgeCrd(fitting, next)).toEqual({ allowed: true });
    expect(fitting.asked.map(({ version }) => version)).toEqual(['v1', 'v1beta1']);
    expect(await judgeCrd(new WidgetCluster(live, [aWidget({})]), next)).toEqual(
      unsafe(
        `${invalidPrefix}existing custom object ns/w failed validation for new schema version v2: [].spec.a: Required value`,
      ),
    );
  },
);

const webhook = { spec: { conversion: { strategy: 'Webhook' } } };

test.each<[what: string, schema: JsonSchema]>([
  ['another schema', { type: 'object' }],
  ['the schema that it had', requiredSpec],
])(
  'without conversion, objects are checked against a version that is served again with %s',
  async (_what, spec) => {
    const live = aWidgetCrd([{ name: 'v1' }, { name: 'v0', served: false, spec }]);
    const next = aWidgetCrd([{ name: 'v1' }, { name: 'v0', spec: requiredSpec }]);
    const fitting = new WidgetCluster(live, [aWidget({ a: 'x' })]);
    expect(await judgeCrd(fitting, next)).toEqual({ allowed: true });
    expect(fitting.asked.map(({ version }) => version)).toEqual(['v1']);
    expect(await judgeCrd(new WidgetCluster(live, [aWidget({})]), next)).toEqual(
      unsafe(
        `${invalidPrefix}existing custom object ns/w failed validation for new schema version v0: [].spec.a: Required value`,
      ),
    );
  },
);

test.each<[what: string, more: object, served: boolean]>([
  ['behind a conversion webhook', webhook, true],
  ['that stays unserved', {}, false],
])('objects are not checked against a version %s', async (_what, more, served) => {
  const live = aWidgetCrd([{ name: 'v1' }, { name: 'v0', served: false }], more);
  const next = aWidgetCrd([{ name: 'v1' }, { name: 'v0', served, spec: requiredSpec }], more);
  const cluster = new WidgetCluster(live, [aWidget({})]);
  expect(await judgeCrd(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked).toEqual([]);
});

test('a conversion stays while what is stored is invalid in another version', async () => {
  const versions = [{ name: 'v1' }, { name: 'v2', spec: requiredSpec }, { name: 'v3' }];
  const live = { ...aWidgetCrd(versions, webhook), status: { storedVersions: ['v1'] } };
  const stored = new WidgetCluster(live, [aWidget({})]);
  const cause = `${invalidPrefix}existing custom object ns/w failed validation for new schema version v2: [].spec.a: Required value`;
  expect(await judgeCrd(stored, aWidgetCrd(versions))).toEqual(unsafe(cause));
  expect(stored.asked.map(({ version }) => version)).toEqual(['v1']);
});

test.each<
  [what: string, next: object, storedVersions: readonly string[], asked: readonly string[]]
>([
  [
    'what is stored is valid in all versions',
    aWidgetCrd([{ name: 'v1' }, { name: 'v2', spec: requiredSpec }]),
    ['v2'],
    ['v2'],
  ],
  [
    'the other version is no more served',
    aWidgetCrd([{ name: 'v1' }, { name: 'v2', spec: requiredSpec, served: false }]),
    ['v1'],
    [],
  ],
  [
    'it stays',
    aWidgetCrd([{ name: 'v1' }, { name: 'v2', spec: requiredSpec }], webhook),
    ['v1'],
    [],
  ],
])('a conversion is no obstacle if %s', async (...[, next, storedVersions, asked]) => {
  const versions = [{ name: 'v1' }, { name: 'v2', spec: requiredSpec }];
  const live = { ...aWidgetCrd(versions, webhook), status: { storedVersions } };
  const cluster = new WidgetCluster(live, [aWidget({ a: 'x' })]);
  expect(await judgeCrd(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked.map(({ version }) => version)).toEqual(asked);
});

test('a version that objects are stored in stays', async () => {
  const live = aWidgetCrd([{ name: 'v1' }, { name: 'v2' }]);
  const both = { ...live, status: { storedVersions: ['v2', 'v1'] } };
  expect(await judgeCrd(new WidgetCluster(both), aWidgetCrd([{ name: 'v3' }]))).toEqual(
    unsafe(`${invalidPrefix}cannot remove stored versions [v1 v2]`),
  );
  const forgotten = { ...live, status: { storedVersions: ['v0'] } };
  expect(await judgeCrd(new WidgetCluster(forgotten), live)).toEqual(
    unsafe(
      'risk of data loss updating "widgets.example.com": new CRD removes version v0 that is listed as a stored version on the existing CRD',
    ),
  );
});

test('what is no CRD is answered with 400', async () => {
  expect(await judgeCrd(new WidgetCluster(undefined), { metadata: { name: crdName } })).toEqual({
    allowed: false,
    status: {
      code: 400,
      message: `failed to decode CRD "${crdName}": spec: Invalid input: expected object, received undefined`,
    },
  });
});

const owned = { 'core.rukpak.io/owner-kind': 'BundleDeployment' };

const established = [{ type: 'Established', status: 'True' }];

function aCrd(metadata: object = {}, served = true, conditions: object[] = established): object {
  return {
    status: { conditions },
    metadata: { name: 'widgets.example.com', labels: owned, ...metadata },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v0', served: false },
        { name: 'v1', served },
      ],
    },
  };
}

function aPage(metadata: KubernetesObject['metadata'], remainingItemCount?: number): ObjectPage {
  const item = { apiVersion: 'example.com/v1', kind: 'Widget', metadata };
  return {
    metadata: remainingItemCount === undefined ? {} : { remainingItemCount },
    items: [item],
  };
}

const three = aPage({ name: 'w', namespace: 'ns' }, 2);

interface Cluster {
  /** As the API server has it (default: a CRD of the review's name). */
  readonly live?: object | Error;
  readonly list: (resource: Resource) => Promise<ObjectPage>;
}

async function judge(oldObject: unknown, { live, list }: Cluster): Promise<AdmissionVerdict> {
  const get = async (_: Resource, { name }: ObjectKey): Promise<KubernetesObject> => {
    const found = live ?? aCrd({ name });
    if (found instanceof Error) throw found;
    return found as KubernetesObject;
  };
  const request = { uid: 'u', operation: 'DELETE', oldObject } as const;
  return await crdDeletionValidator({ get, list })(request, new AbortController().signal);
}

const notFound = new ApiError(404, { message: 'not found' });

test.each([
  [three, '3 custom resources of it exist, e.g. ns/w'],
  [aPage({ name: 'w' }), '1 custom resources of it exist, e.g. /w'],
])('a CRD with objects is not deleted', async (page, told) => {
  expect(await judge(aCrd(), { list: async () => page })).toEqual({
    allowed: false,
    status: {
      code: 403,
      reason: `refusing to delete CRD "widgets.example.com": ${told}; delete them first, or set the annotation "core.rukpak.io/safe-crd-deletion-validation" to "false"`,
    },
  });
});

test.each<[what: string, crd: object, list: () => Promise<ObjectPage>]>([
  ['without objects', aCrd(), async () => ({ metadata: {}, items: [] })],
  [
    'that says so',
    aCrd({ annotations: { 'core.rukpak.io/safe-crd-deletion-validation': 'false' } }),
    async () => three,
  ],
  ['that is being deleted', aCrd({ deletionTimestamp: '2026-01-01T00:00:00Z' }), async () => three],
  ['of somebody else', aCrd({ labels: {} }), async () => three],
  ['that is neither established nor served', aCrd({}, false, []), async () => three],
  ['that is not established', aCrd({}, true, []), async () => Promise.reject(notFound)],
])('a CRD %s is deleted', async (_what, live, list) => {
  expect(await judge(aCrd(), { live, list })).toEqual({ allowed: true });
});

test.each<[what: string, crd: object]>([
  ['no version is served', aCrd({}, false)],
  ['the API server does not serve the objects', aCrd()],
])('a CRD of which %s is not deleted: nobody can see its objects', async (_what, live) => {
  const verdict = await judge(aCrd(), { live, list: async () => Promise.reject(notFound) });
  expect(verdict.status?.reason).toBe(
    'refusing to delete CRD "widgets.example.com": the API server lists no version of it, so its custom resources cannot be counted; serve a version, or set the annotation "core.rukpak.io/safe-crd-deletion-validation" to "false"',
  );
});

test('objects are listed in the version in which they are stored, if that is served', async () => {
  const versions = [
    { name: 'v1', served: true },
    { name: 'v2', served: true, storage: true },
  ];
  const crd = aCrd() as { spec: object };
  const listed: string[] = [];
  const list = async ({ version }: Resource): Promise<ObjectPage> => {
    listed.push(version);
    return three;
  };
  await judge(aCrd(), { live: { ...crd, spec: { ...crd.spec, versions } }, list });
  expect(listed).toEqual(['v2']);
});

test('a review lists nothing but the custom resources of the live CRD', async () => {
  const listed: string[] = [];
  const list = async ({ group, plural }: Resource): Promise<ObjectPage> => {
    listed.push(`${plural}.${group}`);
    return three;
  };
  const forged = aCrd() as { spec: object };
  const names = { plural: 'secrets', kind: 'Secret' };
  const secrets = { ...forged, spec: { ...forged.spec, group: '', names } };
  expect(await judge(secrets, { list })).toMatchObject({ allowed: false });
  expect(listed).toEqual(['widgets.example.com']);
  expect(await judge(secrets, { live: notFound, list })).toEqual({ allowed: true });
  expect(listed).toEqual(['widgets.example.com']);
});

test('objects that cannot be counted are an error, and what is no CRD is one too', async () => {
  const list = async () => Promise.reject(new Error('the API server is away'));
  await expect(judge(aCrd(), { list })).rejects.toThrow('the API server is away');
  expect((await judge({ metadata: {} }, { list })).status).toMatchObject({ code: 400 });
});
