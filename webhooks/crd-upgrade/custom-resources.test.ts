import { expect, test } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import { ApiError } from '../../core/platform/kube/index.ts';
import {
  type ObjectLister,
  type ObjectPage,
  patientLister,
  type resourceOf,
} from './custom-resources.ts';

const page: ObjectPage = { metadata: {}, items: [] };
const signal = new AbortController().signal;
const widgets = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' };
const resource: ReturnType<typeof resourceOf> = { ...widgets, namespaced: true };

/** Refuses some lists first. */
function aLister(code: number, refusals: number): ObjectLister & { asked: number } {
  return {
    asked: 0,
    async list() {
      this.asked += 1;
      if (this.asked <= refusals) throw new ApiError(code, { message: `code ${code}` });
      return page;
    },
  };
}

/** Sleeps no time. */
const clock = {
  ...systemClock,
  sleep: async (_ms: number, stop?: AbortSignal) => stop?.throwIfAborted(),
};

test('a list that core grants meanwhile is read', async () => {
  const lister = aLister(403, 3);
  expect(await patientLister(lister, clock).list(resource, { limit: 1, signal })).toBe(page);
  expect(lister.asked).toBe(4);
});

test('one that nobody grants is refused with the way out', async () => {
  const lister = patientLister(aLister(403, 1000), clock);
  await expect(lister.list(resource, { limit: 1, signal })).rejects.toThrow(
    /^crdvalidator lacks permission to list widgets\.example\.com: run core with --crd-reader-role/,
  );
});

test('another refusal is told at once, and the end of the review ends the waiting', async () => {
  const gone = aLister(404, 1000);
  await expect(patientLister(gone, clock).list(resource, { limit: 1, signal })).rejects.toThrow(
    'code 404',
  );
  expect(gone.asked).toBe(1);
  const forbidden = aLister(403, 1000);
  const over = AbortSignal.abort(new Error('its time is over'));
  await expect(
    patientLister(forbidden, clock).list(resource, { limit: 1, signal: over }),
  ).rejects.toThrow('its time is over');
  expect(forbidden.asked).toBe(1);
});
