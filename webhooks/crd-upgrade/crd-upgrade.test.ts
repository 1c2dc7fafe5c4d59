import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../review.ts';
import { crdUpgradeValidator } from './crd-upgrade.ts';
import type { ObjectLister } from './custom-resources.ts';
import type { JsonSchema } from './schema/json-schema.ts';

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly spec?: JsonSchema;
}

const name = 'widgets.example.com';

function aCrd(versions: readonly Version[], more: { spec?: object; metadata?: object } = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, ...more.metadata },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', listKind: 'WidgetList' },
      versions: versions.map(({ name, served = true, spec = { type: 'object' } }) => ({
        name,
        served,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      })),
      ...more.spec,
    },
    status: { storedVersions: versions.slice(0, 1).map((version) => version.name) },
  };
}

function aWidget(spec: object, metadata: object = { name: 'w', namespace: 'ns' }) {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec };
}

/** Lists objects in pages, and notes what it was asked for. */
class Cluster implements ObjectLister {
  readonly asked: { version: string; limit: number; continue: string | undefined }[] = [];
  readonly #live: KubernetesObject | undefined;
  readonly #objects: readonly KubernetesObject[];

  constructor(live: object | undefined, objects: readonly object[] = []) {
    this.#live = live as KubernetesObject | undefined;
    this.#objects = objects as readonly KubernetesObject[];
  }

  async get(): Promise<KubernetesObject> {
    if (this.#live === undefined) throw Object.assign(new Error('not found'), { code: 404 });
    return this.#live;
  }

  async list(
    { version }: Parameters<ObjectLister['list']>[0],
    { limit, continue: token }: Parameters<ObjectLister['list']>[1],
  ): ReturnType<ObjectLister['list']> {
    this.asked.push({ version, limit, continue: token });
    const start = Number(token ?? 0);
    const end = start + limit;
    const metadata = end < this.#objects.length ? { continue: String(end) } : {};
    return { metadata, items: this.#objects.slice(start, end) };
  }
}

async function judge(
  client: Cluster,
  object: unknown,
  {
    signal = new AbortController().signal,
    ...request
  }: Partial<AdmissionRequest> & {
    signal?: AbortSignal;
  } = {},
): Promise<AdmissionVerdict> {
  const validate = crdUpgradeValidator({ client, logger: silentLogger });
  return await validate({ uid: 'u', operation: 'UPDATE', name, object, ...request }, signal);
}

function refusal(cause: string, operation = 'UPDATE'): AdmissionVerdict {
  const reason = `failed to validate safety of ${operation} for CRD "widgets.example.com" (NOTE: to disable this validation, set the "core.rukpak.io/safe-crd-upgrade-validation" annotation to "false"): ${cause}`;
  return { allowed: false, status: { code: 403, reason } };
}

const prefix = `error validating existing CRs against new CRD's schema for "widgets.example.com": `;
const required: JsonSchema = {
  type: 'object',
  required: ['a'],
  properties: { a: { type: 'string' } },
};

test('a schema that existing objects break is refused in the words that users know', async () => {
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), [aWidget({ a: 'x' }), aWidget({})]);
  const cause = `${prefix}existing custom object ns/w failed validation for new schema version v1: [].spec.a: Required value`;
  expect(await judge(cluster, aCrd([{ name: 'v1', spec: required }]))).toEqual(refusal(cause));
  const created = await judge(cluster, aCrd([{ name: 'v1', spec: required }]), {
    operation: 'CREATE',
  });
  expect(created).toEqual(refusal(cause, 'CREATE'));
});

test('several faults are a list, and an object without a namespace begins with a slash', async () => {
  const both: JsonSchema = { type: 'object', required: ['a', 'b'] };
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), [aWidget({}, { name: 'w' })]);
  expect(await judge(cluster, aCrd([{ name: 'v1', spec: both }]))).toEqual(
    refusal(
      `${prefix}existing custom object /w failed validation for new schema version v1: [[].spec.a: Required value, [].spec.b: Required value]`,
    ),
  );
});

test.each<[what: string, live: object | undefined, next: object, listed: readonly string[]]>([
  ['a CRD that is not there yet', undefined, aCrd([{ name: 'v1', spec: required }]), []],
  ['the same schema', aCrd([{ name: 'v1' }]), aCrd([{ name: 'v1' }]), []],
  [
    'a version that was not served',
    aCrd([{ name: 'v1', served: false }]),
    aCrd([{ name: 'v1', spec: required }]),
    [],
  ],
  [
    'a CRD that says so',
    aCrd([{ name: 'v1' }]),
    aCrd([{ name: 'v1', spec: required }], {
      metadata: { annotations: { 'core.rukpak.io/safe-crd-upgrade-validation': 'false' } },
    }),
    [],
  ],
  [
    'a schema that all objects meet',
    aCrd([{ name: 'v1' }]),
    aCrd([{ name: 'v1', spec: { type: 'object', maxProperties: 1 } }]),
    ['v1'],
  ],
  [
    'a default for what is required',
    aCrd([{ name: 'v1' }]),
    aCrd([
      { name: 'v1', spec: { ...required, properties: { a: { type: 'string', default: 'x' } } } },
    ]),
    ['v1'],
  ],
  [
    'a new version behind a conversion webhook',
    aCrd([{ name: 'v1' }]),
    aCrd([{ name: 'v1' }, { name: 'v2', spec: required }], {
      spec: { conversion: { strategy: 'Webhook' } },
    }),
    [],
  ],
])('%s is allowed', async (_what, live, ...[next, listed]) => {
  const cluster = new Cluster(live, [aWidget({})]);
  expect(await judge(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked.map(({ version }) => version)).toEqual(listed);
});

test.each([[{}], [{ conversion: { strategy: 'None' } }]])(
  'without conversion, objects of all common versions are checked against a new one: %j',
  async (spec) => {
    const live = aCrd([{ name: 'v1' }, { name: 'v1beta1' }, { name: 'v0', served: false }]);
    const versions = [{ name: 'v1' }, { name: 'v1beta1' }, { name: 'v0' }];
    const fitting = new Cluster(live, [aWidget({ a: 'x' })]);
    const next = aCrd([...versions, { name: 'v2', spec: required }], { spec });
    expect(await judge(fitting, next)).toEqual({ allowed: true });
    expect(fitting.asked.map(({ version }) => version)).toEqual(['v1', 'v1beta1']);
    expect(await judge(new Cluster(live, [aWidget({})]), next)).toEqual(
      refusal(
        `${prefix}existing custom object ns/w failed validation for new schema version v2: [].spec.a: Required value`,
      ),
    );
  },
);

test('a version that objects are stored in stays', async () => {
  const live = aCrd([{ name: 'v1' }, { name: 'v2' }]);
  const both = { ...live, status: { storedVersions: ['v2', 'v1'] } };
  expect(await judge(new Cluster(both), aCrd([{ name: 'v3' }]))).toEqual(
    refusal(`${prefix}cannot remove stored versions [v1 v2]`),
  );
  const forgotten = { ...live, status: { storedVersions: ['v0'] } };
  expect(await judge(new Cluster(forgotten), live)).toEqual(
    refusal(
      'risk of data loss updating "widgets.example.com": new CRD removes version v0 that is listed as a stored version on the existing CRD',
    ),
  );
});

test('what is no CRD is answered with 400', async () => {
  expect(await judge(new Cluster(undefined), { metadata: { name } })).toEqual({
    allowed: false,
    status: {
      code: 400,
      message: `failed to decode CRD "${name}": spec: Invalid input: expected object, received undefined`,
    },
  });
});

const next = aCrd([{ name: 'v1', spec: required }]);
const widgets = Array.from({ length: 2_000 }, () => aWidget({ a: 'x' }));

test('objects are read in pages of at most 500, and none after the first that fails', async () => {
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), widgets);
  expect(await judge(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked.map(({ limit }) => limit)).toEqual([50, 500, 500, 500, 500]);
  const failing = new Cluster(aCrd([{ name: 'v1' }]), widgets.with(60, aWidget({})));
  expect((await judge(failing, next)).allowed).toBe(false);
  expect(failing.asked).toHaveLength(2);
});

test('pages of large objects are small', async () => {
  const large = Array.from({ length: 60 }, () => aWidget({ a: 'x'.repeat(1024 * 1024) }));
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), large);
  await judge(cluster, next);
  expect(cluster.asked.map(({ limit }) => limit)).toEqual([50, 7, 7]);
});

test('a list that expires is read again from its start', async () => {
  class Expiring extends Cluster {
    override async list(
      ...args: Parameters<ObjectLister['list']>
    ): ReturnType<ObjectLister['list']> {
      const page = await super.list(...args);
      if (this.asked.length === 2) throw Object.assign(new Error('expired'), { code: 410 });
      return page;
    }
  }
  const cluster = new Expiring(aCrd([{ name: 'v1' }]), widgets.slice(0, 60));
  expect(await judge(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked.map((each) => each.continue)).toEqual([undefined, '50', undefined]);
});

class Refusing extends Cluster {
  readonly #code: number;

  constructor(code: number) {
    super(aCrd([{ name: 'v1' }]));
    this.#code = code;
  }

  override async list(): Promise<never> {
    throw Object.assign(new Error('widgets is forbidden'), { code: this.#code });
  }
}

test('objects that may not be read are a refusal; those of a kind that is not served are none', async () => {
  const cause = 'error listing objects for example.com/v1, Kind=WidgetList: widgets is forbidden';
  expect(await judge(new Refusing(403), next)).toEqual(refusal(cause));
  expect(await judge(new Refusing(404), next)).toEqual({ allowed: true });
});

const outOfTime =
  'its custom resources could not all be checked within the time of the admission request; retry, or set the annotation';

test('when the time of the request is over, it is refused with the way out', async () => {
  const stop = new AbortController();
  class Slow extends Cluster {
    override async list(
      _resource: unknown,
      { signal }: Parameters<ObjectLister['list']>[1],
    ): Promise<never> {
      stop.abort(new Error('time is over'));
      signal.throwIfAborted();
      throw new Error('not aborted');
    }
  }
  const { signal } = stop;
  const cluster = new Slow(aCrd([{ name: 'v1' }]));
  expect(await judge(cluster, next, { signal })).toEqual(refusal(outOfTime));
});

test('few CRDs are read at once, and who waits for too long is refused', async () => {
  const gate = Promise.withResolvers<void>();
  let reading = 0;
  class Gated extends Cluster {
    override async list(
      ...args: Parameters<ObjectLister['list']>
    ): ReturnType<ObjectLister['list']> {
      reading += 1;
      await gate.promise;
      return await super.list(...args);
    }
  }
  const client = new Gated(aCrd([{ name: 'v1' }]));
  const validate = crdUpgradeValidator({ client, logger: silentLogger });
  const request: AdmissionRequest = { uid: 'u', operation: 'UPDATE', name, object: next };
  const stop = new AbortController();
  const patient = Array.from({ length: 6 }, async () =>
    validate(request, new AbortController().signal),
  );
  const hasty = validate(request, stop.signal);
  await expect.poll(() => reading).toBe(2);
  stop.abort(new Error('time is over'));
  expect(await hasty).toEqual(refusal(outOfTime));
  expect(reading).toBe(2);
  gate.resolve();
  expect(await Promise.all(patient)).toEqual(patient.map(() => ({ allowed: true })));
});

test('a pattern that would take years is cut off, and one that cannot be translated is told', async () => {
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), [aWidget({ a: `${'a'.repeat(60)}b` })]);
  async function reasonFor(pattern: string): Promise<string | undefined> {
    const spec: JsonSchema = { type: 'object', properties: { a: { type: 'string', pattern } } };
    return (await judge(cluster, aCrd([{ name: 'v1', spec }]))).status?.reason;
  }
  expect(await reasonFor('^(a+)+$')).toMatch(/it cannot be checked: it takes longer than 1000 ms$/);
  expect(await reasonFor('\\p{Unheard}')).toMatch(
    /the pattern '\\p\{Unheard\}' cannot be checked$/,
  );
});

test('nesting deeper than the stack is refused', async () => {
  let spec: JsonSchema = { type: 'object', maxProperties: 1 };
  let value: object = {};
  for (let depth = 0; depth < 20_000; depth++) {
    spec = { type: 'object', properties: { a: spec } };
    value = { a: value };
  }
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), [aWidget(value)]);
  const shallow = aCrd([{ name: 'v1', spec: { type: 'object', properties: { a: spec } } }]);
  expect((await judge(cluster, shallow)).allowed).toBe(false);
});

test('a message stays below 32 KiB and says how many more faults there are', async () => {
  const spec: JsonSchema = {
    type: 'object',
    additionalProperties: { type: 'object', required: ['a'.repeat(100)] },
  };
  const fields = Array.from({ length: 2_000 }, (_, index) => [`f${index}`, {}] as const);
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), [aWidget(Object.fromEntries(fields))]);
  const { status } = await judge(cluster, aCrd([{ name: 'v1', spec }]));
  expect(Buffer.byteLength(status?.reason ?? '')).toBeLessThan(32 * 1024);
  const [, more] = /, and (\d+) more\]$/.exec(status?.reason ?? '') ?? [];
  expect((status?.reason?.match(/Required value/g)?.length ?? 0) + Number(more)).toBe(2_000);
});

test('one long value is cut', async () => {
  const spec: JsonSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^b' } } };
  const cluster = new Cluster(aCrd([{ name: 'v1' }]), [aWidget({ a: 'ä'.repeat(500_000) })]);
  const { status } = await judge(cluster, aCrd([{ name: 'v1', spec }]));
  expect(Buffer.byteLength(status?.reason ?? '')).toBeLessThan(32 * 1024);
  expect(status?.reason).toMatch(/ä…$/);
});
