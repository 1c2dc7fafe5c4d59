import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { EventRecorder } from './event-recorder.ts';

const bundle: KubernetesObject = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'Bundle',
  metadata: { name: 'b', uid: 'uid-b', resourceVersion: '7' },
};
const unpacked = { type: 'Normal', reason: 'UnpackSuccessful', message: 'done' } as const;

function aRecorder() {
  const client = new FakeKubeClient();
  const clock = new ManualClock();
  const written: KubernetesObject[] = [];
  const create = client.create.bind(client);
  client.create = async (resource, object, signal) => {
    written.push(object);
    return await create(resource, object, signal);
  };
  const recorder = new EventRecorder({ client, component: 'test', clock, logger: silentLogger });
  const flush = async (): Promise<void> => await recorder.flush(AbortSignal.timeout(120_000));
  const stored = (): (KubernetesObject | undefined)[] =>
    written.map(({ metadata }) =>
      client.peek({ namespace: metadata.namespace, name: metadata.name ?? '' }),
    );
  return { client, clock, recorder, flush, written, stored };
}

describe('EventRecorder', () => {
  test('writes what kubectl shows of a cluster-scoped object', async () => {
    const { recorder, flush, written } = aRecorder();
    recorder.event(bundle, { ...unpacked, action: 'Unpack' });
    await flush();
    expect(written).toEqual([
      expect.objectContaining({
        metadata: { namespace: 'default', name: expect.stringMatching(/^b\.[0-9a-f]{16}$/) },
        involvedObject: expect.objectContaining({ kind: 'Bundle', name: 'b', uid: 'uid-b' }),
        type: 'Normal',
        reason: 'UnpackSuccessful',
        message: 'done',
        action: 'Unpack',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'test' },
      }),
    ]);
  });

  test.each(Array.from({ length: 24 }, (_, depth) => depth))(
    'writes an event that comes %d turns after the one before',
    async (depth) => {
      const { client, recorder, written } = aRecorder();
      client.beforeCall = () => {
        if (written.length > 1) return;
        let turn = Promise.resolve();
        for (let turns = 0; turns < depth; turns += 1) turn = turn.then(() => undefined);
        void turn.then(() => recorder.event(bundle, { ...unpacked, reason: 'Second' }));
      };
      recorder.event(bundle, unpacked);
      await setImmediate();
      await setImmediate();
      expect(written).toHaveLength(2);
    },
  );

  test('writes the events of a namespaced object beside it', async () => {
    const { recorder, flush, written } = aRecorder();
    recorder.event({ ...bundle, metadata: { name: 'x', namespace: 'n' } }, unpacked);
    await flush();
    expect(written[0]?.metadata.namespace).toBe('n');
  });

  test('counts repeats in one event', async () => {
    const { recorder, flush, clock, stored, client } = aRecorder();
    recorder.event(bundle, unpacked);
    recorder.event(bundle, unpacked);
    await flush();
    clock.advance(60_000);
    recorder.event({ ...bundle, metadata: { ...bundle.metadata, resourceVersion: '8' } }, unpacked);
    recorder.event(bundle, { ...unpacked, message: 'other' });
    await flush();
    expect(stored()).toMatchObject([
      { count: 3, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:01:00Z' },
      { count: 1, message: 'other' },
    ]);
    expect(client.calls).toEqual(['create', 'patch', 'patch', 'create']);
  });

  test('starts a new event where the old one has expired', async () => {
    const { recorder, flush, client, written } = aRecorder();
    recorder.event(bundle, unpacked);
    await flush();
    client.drop({ namespace: 'default', name: written[0]?.metadata.name ?? '' });
    recorder.event(bundle, unpacked);
    await flush();
    expect(written).toHaveLength(2);
    expect(written[1]).toMatchObject({ count: 1 });
  });

  test('cuts messages at 1024 bytes, between characters', async () => {
    const { recorder, flush, written } = aRecorder();
    recorder.event(bundle, { ...unpacked, message: 'ü😀'.repeat(500) });
    recorder.event(bundle, { ...unpacked, message: 'x'.repeat(1024) });
    await flush();
    const [cut, whole] = written.map((event) => String(event['message']));
    expect(Buffer.byteLength(cut ?? '')).toBeLessThanOrEqual(1024);
    expect(Buffer.byteLength(cut ?? '')).toBeGreaterThan(1010);
    expect(cut).toMatch(/^(ü😀)+ü?…$/u);
    expect(whole).toBe('x'.repeat(1024));
  });

  test.each(['system:Foo.Bar', '...', '-', 'a'.repeat(253), 'b-'.repeat(120)])(
    'gives the events of %s a name that the server takes',
    async (name) => {
      const { recorder, flush, written } = aRecorder();
      recorder.event({ ...bundle, metadata: { name } }, unpacked);
      await flush();
      const eventName = written[0]?.metadata.name ?? '';
      expect(eventName).toMatch(
        /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      );
      expect(eventName.length).toBeLessThanOrEqual(253);
    },
  );

  test('removes credentials from messages', async () => {
    const { recorder, flush, written } = aRecorder();
    recorder.event(bundle, { ...unpacked, message: 'from https://me:secret@host/x' });
    await flush();
    expect(written[0]?.['message']).toBe('from https://host/x');
  });

  test('lets one object have 25 events, then one every five minutes', async () => {
    const { recorder, flush, clock, written } = aRecorder();
    const flood = (): void => {
      for (let index = 0; index < 40; index++) {
        recorder.event(bundle, { ...unpacked, message: `${written.length} ${index}` });
      }
    };
    flood();
    recorder.event({ ...bundle, metadata: { name: 'other', uid: 'o' } }, unpacked);
    await flush();
    expect(written).toHaveLength(26);
    clock.advance(300_000);
    flood();
    await flush();
    expect(written).toHaveLength(27);
  });

  test('goes on after an event that cannot be written', async () => {
    const { recorder, flush, client, stored } = aRecorder();
    client.faults.create = [new Error('away')];
    recorder.event(bundle, unpacked);
    recorder.event(bundle, { ...unpacked, message: 'next' });
    await flush();
    expect(stored()).toEqual([undefined, expect.objectContaining({ message: 'next' })]);
  });

  test('never keeps more than 1000 waiting', async () => {
    const { recorder, flush, written } = aRecorder();
    for (let index = 0; index < 3000; index++) {
      recorder.event({ ...bundle, metadata: { name: `b-${index}` } }, unpacked);
    }
    await flush();
    expect(written.length).toBeLessThanOrEqual(1001);
    recorder.event(bundle, unpacked);
    await flush();
    expect(written.at(-1)).toMatchObject({ involvedObject: { name: 'b' } });
  });

  test('a flush ends when its time is over', async () => {
    const { recorder, client } = aRecorder();
    client.beforeCall = async () => await new Promise(() => undefined);
    recorder.event(bundle, unpacked);
    const abort = new AbortController();
    const flushing = recorder.flush(abort.signal);
    await setImmediate();
    abort.abort();
    await flushing;
  });
});
