import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../test/helpers/eventually.ts';
import { ObjectTracker } from '../test/helpers/object-tracker.ts';
import { silentLogger } from '../test/helpers/silent-logger.ts';
import {
  type Condition,
  findCondition,
  type KubernetesObject,
  keyOf,
  ObjectController,
  type Resource,
  setCondition,
  statusPatch,
  systemClock,
} from './controller.ts';

const widgets: Resource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
const key = { namespace: 'shop', name: 'w' };

function conditionsOf(object: KubernetesObject | undefined): readonly Condition[] {
  const { conditions = [] } = (object?.['status'] ?? {}) as { conditions?: readonly Condition[] };
  return conditions;
}

test('a controller of this door alone writes the status of an object when that changes, and once', async () => {
  const cluster = new ObjectTracker();
  const controller = new ObjectController({
    name: 'widget',
    client: cluster,
    resource: widgets,
    key,
    resync: 60_000,
    clock: systemClock,
    logger: silentLogger,
    reconcile: async (widget) => {
      if (widget === undefined) return;
      const { generation } = widget.metadata;
      const ready = {
        type: 'Ready',
        status: 'True',
        reason: 'Seen',
        message: 'It is here.',
      } as const;
      const condition = { ...ready, observedGeneration: generation };
      const conditions = setCondition(conditionsOf(widget), condition, systemClock);
      const patch = statusPatch(widget, { conditions });
      if (patch !== undefined) {
        await cluster.patch({ key: keyOf(widget) }, patch);
      }
    },
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const observed = (): number | undefined =>
    findCondition(conditionsOf(cluster.peek('w')), 'Ready')?.observedGeneration;
  const aWidget = (generation: number): KubernetesObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { ...key, generation },
  });
  cluster.put('w', aWidget(1));
  await eventually(() => expect(observed()).toBe(1));
  cluster.put('w', { ...cluster.peek('w'), ...aWidget(2) });
  await eventually(() => expect(observed()).toBe(2));
  controller.enqueue();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(cluster.requests).toEqual(['patch', 'patch']);
});
