import { expect, test } from 'vitest';
import type { JsonSchema } from '../../api/object-schema/index.ts';
import { ApiError } from '../../core/platform/kube/index.ts';
import {
  aWidget,
  aWidgetCrd,
  crdName,
  judgeCrd,
  requiredSpec,
  unsafe,
  WidgetCluster,
} from '../../test/helpers/crd-upgrade-fixture.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import type { AdmissionRequest } from '../review.ts';
import { crdUpgradeValidator } from './crd-validators.ts';
import type { ObjectLister } from './custom-resources.ts';

const next = aWidgetCrd([{ name: 'v1', spec: requiredSpec }]);
const widgets = Array.from({ length: 2_000 }, () => aWidget({ a: 'x' }));

test('objects are read in pages of at most 500, and none after the first that fails', {
  tags: ['slow'],
}, async () => {
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), widgets);
  expect(await judgeCrd(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked.map(({ limit }) => limit)).toEqual([50, 500, 500, 500, 500]);
  const failing = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), widgets.with(60, aWidget({})));
  expect((await judgeCrd(failing, next)).allowed).toBe(false);
  expect(failing.asked).toHaveLength(2);
});

test('pages of large objects are small', async () => {
  const large = Array.from({ length: 60 }, () => aWidget({ a: 'x'.repeat(1024 * 1024) }));
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), large);
  await judgeCrd(cluster, next);
  expect(cluster.asked.map(({ limit }) => limit)).toEqual([50, 7, 7]);
});

test('a list that expires is read again from its start', async () => {
  class Expiring extends WidgetCluster {
    override async list(
      ...args: Parameters<ObjectLister['list']>
    ): ReturnType<ObjectLister['list']> {
      const page = await super.list(...args);
      if (this.asked.length === 2) throw new ApiError(410, { message: 'expired' });
      return page;
    }
  }
  const cluster = new Expiring(aWidgetCrd([{ name: 'v1' }]), widgets.slice(0, 60));
  expect(await judgeCrd(cluster, next)).toEqual({ allowed: true });
  expect(cluster.asked.map((each) => each.continue)).toEqual([undefined, '50', undefined]);
});

class Refusing extends WidgetCluster {
  readonly #code: number;

  constructor(code: number) {
    super(aWidgetCrd([{ name: 'v1' }]));
    this.#code = code;
  }

  override async list(): Promise<never> {
    throw new ApiError(this.#code, { message: 'widgets is forbidden' });
  }
}

test('objects that may not be read are a refusal; those of a kind that is not served are none', async () => {
  const cause = 'error listing objects for example.com/v1, Kind=WidgetList: widgets is forbidden';
  expect(await judgeCrd(new Refusing(403), next)).toEqual(unsafe(cause));
  expect(await judgeCrd(new Refusing(404), next)).toEqual({ allowed: true });
});

const outOfTime =
  'its custom resources could not all be checked within the time of the admission request; retry, or set the annotation';

test('when the time of the request is over, it is refused with the way out', async () => {
  const stop = new AbortController();
  class Slow extends WidgetCluster {
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
  const cluster = new Slow(aWidgetCrd([{ name: 'v1' }]));
  expect(await judgeCrd(cluster, next, { signal })).toEqual(unsafe(outOfTime));
});

test('few CRDs are read at once, and who waits for too long is refused', async () => {
  const gate = Promise.withResolvers<void>();
  let reading = 0;
  class Gated extends WidgetCluster {
    override async list(
      ...args: Parameters<ObjectLister['list']>
    ): ReturnType<ObjectLister['list']> {
      reading += 1;
      await gate.promise;
      return await super.list(...args);
    }
  }
  const client = new Gated(aWidgetCrd([{ name: 'v1' }]));
  const validate = crdUpgradeValidator({ client, logger: silentLogger });
  const request: AdmissionRequest = { uid: 'u', operation: 'UPDATE', name: crdName, object: next };
  const stop = new AbortController();
  const patient = Array.from({ length: 6 }, async () =>
    validate(request, new AbortController().signal),
  );
  const hasty = validate(request, stop.signal);
  await expect.poll(() => reading).toBe(2);
  stop.abort(new Error('time is over'));
  expect(await hasty).toEqual(unsafe(outOfTime));
  expect(reading).toBe(2);
  gate.resolve();
  expect(await Promise.all(patient)).toEqual(patient.map(() => ({ allowed: true })));
});

test('a pattern that backtracking would take years for is judged, one that is none is told', async () => {
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), [
    aWidget({ a: `${'a'.repeat(60)}b` }),
  ]);
  async function reasonFor(pattern: string): Promise<string | undefined> {
    const spec: JsonSchema = { type: 'object', properties: { a: { type: 'string', pattern } } };
    return (await judgeCrd(cluster, aWidgetCrd([{ name: 'v1', spec }]))).status?.reason;
  }
  expect(await reasonFor('^(a+)+$')).toMatch(/in body should match '\^\(a\+\)\+\$'$/);
  expect(await reasonFor('^(a+)+b$')).toBeUndefined();
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
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), [aWidget(value)]);
  const shallow = aWidgetCrd([{ name: 'v1', spec: { type: 'object', properties: { a: spec } } }]);
  expect((await judgeCrd(cluster, shallow)).allowed).toBe(false);
});

test('a message stays below 32 KiB and says how many more faults there are', async () => {
  const spec: JsonSchema = {
    type: 'object',
    additionalProperties: { type: 'object', required: ['a'.repeat(100)] },
  };
  const fields = Array.from({ length: 2_000 }, (_, index) => [`f${index}`, {}] as const);
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), [
    aWidget(Object.fromEntries(fields)),
  ]);
  const { status } = await judgeCrd(cluster, aWidgetCrd([{ name: 'v1', spec }]));
  expect(Buffer.byteLength(status?.reason ?? '')).toBeLessThan(32 * 1024);
  const [, more] = /, and (\d+) more\]$/.exec(status?.reason ?? '') ?? [];
  expect((status?.reason?.match(/Required value/g)?.length ?? 0) + Number(more)).toBe(2_000);
});

test('one long text is cut', async () => {
  const spec: JsonSchema = { type: 'object', required: ['ä'.repeat(500_000)] };
  const cluster = new WidgetCluster(aWidgetCrd([{ name: 'v1' }]), [aWidget({})]);
  const { status } = await judgeCrd(cluster, aWidgetCrd([{ name: 'v1', spec }]));
  expect(Buffer.byteLength(status?.reason ?? '')).toBeLessThan(32 * 1024);
  expect(status?.reason).toMatch(/ä…$/);
});
