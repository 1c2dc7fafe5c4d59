import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { EventRecorder } from '../../core/platform/runtime/index.ts';
import { eventResource } from '../../core/platform/runtime/object-event.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { aTestNamespace } from '../helpers/test-namespace.ts';

const { client, close } = connect({
  kubeconfig: plane.kubeconfig,
  userAgent: 'rukpak-test/1',
});
let namespace = '';
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ namespace, drop } = await aTestNamespace(client, 'events'));
});

afterAll(async () => {
  await drop();
  await close();
});

async function eventsOf(object: KubernetesObject, where: string) {
  const fieldSelector = `involvedObject.uid=${object.metadata.uid}`;
  return (await client.list(eventResource, { namespace: where, fieldSelector })).items;
}

describe('EventRecorder', () => {
  test.each([
    ['namespaced', () => ({ name: 'x', namespace }), () => namespace],
    ['cluster-scoped', () => ({ name: 'system:x.Y' }), () => 'default'],
  ])('the server takes events of %s objects', async (kind, metadata, where) => {
    const warnings: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) };
    const recorder = new EventRecorder({ client, component: 'test', clock: systemClock, logger });
    const object = {
      apiVersion: 'core.rukpak.io/v1alpha1',
      kind: 'Bundle',
      metadata: { ...metadata(), uid: `${namespace}-${kind}`, resourceVersion: '1' },
    };
    const text = { type: 'Normal', reason: 'Tested', action: 'Test' } as const;
    recorder.event(object, { ...text, message: 'once' });
    for (let index = 0; index < 3; index++) {
      recorder.event(object, { ...text, message: 'ü'.repeat(2000) });
    }
    await recorder.flush(AbortSignal.timeout(240_000));
    expect(warnings).toEqual([]);
    const events = await eventsOf(object, where());
    expect(new Set(events.map((event) => event['count']))).toEqual(new Set([1, 3]));
    expect(events.map((event) => event['reason'])).toEqual(['Tested', 'Tested']);
  });
});
