import { expect, test } from 'vitest';
import {
  aWidget,
  aWidgetCrd,
  crdName,
  requiredSpec,
  unsafe,
  WidgetCluster,
} from '../../test/helpers/crd-upgrade-fixture.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import type { AdmissionRequest, AdmissionValidator, AdmissionVerdict } from '../review.ts';
import { crdUpgradeValidator } from './crd-validators.ts';
import type { ObjectLister } from './custom-resources.ts';

const live = aWidgetCrd([{ name: 'v1' }]);
const next = aWidgetCrd([{ name: 'v1', spec: requiredSpec }]);
const allowed = { allowed: true };

/** Lists widgets once the gate is open. */
class GatedCluster extends WidgetCluster {
  readonly gate = Promise.withResolvers<void>();
  reading = 0;

  override async list(...args: Parameters<ObjectLister['list']>): ReturnType<ObjectLister['list']> {
    this.reading += 1;
    await this.gate.promise;
    return await super.list(...args);
  }
}

function reviewWith(validate: AdmissionValidator) {
  return async (
    request: Partial<AdmissionRequest>,
    signal = new AbortController().signal,
  ): Promise<AdmissionVerdict> =>
    await validate(
      { uid: 'u', operation: 'UPDATE', name: crdName, object: next, ...request },
      signal,
    );
}

/** An object whose check takes so many milliseconds of processor time. */
function aSlowWidget(milliseconds: number) {
  return aWidget({
    get a(): string {
      const begin = process.threadCpuUsage();
      for (;;) {
        const { user, system } = process.threadCpuUsage(begin);
        if (user + system > milliseconds * 1_000) return 'x';
      }
    },
  });
}

test('one client holds two places, and the third is another client’s', async () => {
  const client = new GatedCluster(live);
  const review = reviewWith(crdUpgradeValidator({ client, logger: silentLogger }));
  const stranger = Array.from({ length: 6 }, () => review({ client: '10.0.0.9' }));
  await expect.poll(() => client.reading).toBe(2);
  const ours = review({ client: '10.0.0.1' });
  await expect.poll(() => client.reading).toBe(3);
  client.gate.resolve();
  expect(await Promise.all([ours, ...stranger])).toEqual(Array.from({ length: 7 }, () => allowed));
});

test('a review that reads no objects needs no place', async () => {
  const client = new GatedCluster(live);
  const review = reviewWith(crdUpgradeValidator({ client, logger: silentLogger }));
  const held = Array.from({ length: 6 }, () => review({}));
  await expect.poll(() => client.reading).toBe(2);
  expect(await review({ object: live })).toEqual(allowed);
  client.gate.resolve();
  await Promise.all(held);
});

test('a check that takes too much processor time is refused with the way out', async () => {
  const client = new WidgetCluster(
    live,
    Array.from({ length: 30 }, () => aSlowWidget(20)),
  );
  const options = { client, logger: silentLogger, processorTime: 100 };
  expect(await reviewWith(crdUpgradeValidator(options))({})).toEqual(
    unsafe(
      'its custom resources could not all be checked within 0.1 s of processor time; set the annotation',
    ),
  );
});

test('a slow check holds up another client for one turn, not for each object', {
  tags: ['slow'],
}, async () => {
  const pages = [
    Array.from({ length: 400 }, () => aSlowWidget(5)),
    Array.from({ length: 600 }, () => aWidget({ a: 'x' })),
  ];
  class Two extends WidgetCluster {
    override async list(): ReturnType<ObjectLister['list']> {
      return { metadata: {}, items: pages.shift() ?? [] };
    }
  }
  const validate = crdUpgradeValidator({ client: new Two(live), logger: silentLogger });
  const review = reviewWith(validate);
  const stop = new AbortController();
  const slow = review({ client: '10.0.0.9' }, stop.signal).then(() => 'slow');
  await expect.poll(() => pages.length).toBe(1);
  expect(await Promise.race([slow, review({ client: '10.0.0.1' })])).toEqual(allowed);
  stop.abort(new Error('the client is gone'));
  await slow;
});
