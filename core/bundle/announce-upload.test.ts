import { beforeEach, describe, expect, test } from 'vitest';
import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { EventList } from '../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { withoutSummary } from '../../test/helpers/summary-conditions.ts';
import { announceUpload, claimUpload } from './announce-upload.ts';

const { signal } = new AbortController();
const source = { type: 'upload', upload: {} };
let client: FakeKubeClient;
let events: EventList;

beforeEach(() => {
  client = new FakeKubeClient();
  events = new EventList();
});

async function announce(
  uid = 'uid-of-demo',
  newDigest?: string,
): Promise<BundleStatus | undefined> {
  await announced({ uid, isNew: newDigest !== undefined, digest: newDigest ?? 'abc' });
  const status = (client.peek({ name: 'demo' }) as Bundle | undefined)?.status;
  return status && withoutSummary(status);
}

async function announced({ uid = 'uid-of-demo', isNew = true, digest = 'abc' }): Promise<boolean> {
  const options = { client, clock: new ManualClock(), events, signal, digest, isNew };
  return await announceUpload({ name: 'demo', uid }, options);
}

const pinned = { 'core.rukpak.io/pin': 'sha256:abc' };

describe('an upload that was received', () => {
  test.each(['Pending', 'Failing', undefined] as const)(
    'makes a Bundle Pending: %s',
    async (phase) => {
      client.put(aStoredBundle({ source, status: phase === undefined ? {} : { phase } }));
      expect(await announce()).toMatchObject({
        phase: 'Pending',
        conditions: [
          {
            type: 'Unpacked',
            status: 'False',
            reason: 'UnpackPending',
            message: 'received bundle upload, waiting for provisioner to unpack it.',
          },
        ],
      });
      expect(events.taken()).toEqual([
        'Normal UnpackPending: received bundle upload, waiting for provisioner to unpack it.',
      ]);
      await announce();
      expect(events.taken()).toEqual([]);
    },
  );

  test('changes nothing of an unpacked Bundle, a namesake, or one that is gone', async () => {
    const status = { phase: 'Unpacked' };
    client.put(aStoredBundle({ source, status }));
    expect(await announce()).toEqual(status);
    client.put(aStoredBundle({ source, status: { phase: 'Pending' } }));
    expect(await announce('another')).toEqual({ phase: 'Pending' });
    client.drop({ name: 'demo' });
    expect(await announce()).toBeUndefined();
    expect(client.count('patch')).toBe(0);
  });

  test('has a Bundle unpacked again that was unpacked from other bytes meanwhile', async () => {
    const contentURL = 'https://content.example/bundles/demo.tgz';
    client.put(aStoredBundle({ source, status: { phase: 'Unpacked', contentURL } }));
    const status = await announce('uid-of-demo', 'abc');
    expect(status).toMatchObject({ phase: 'Pending', contentURL: null });
    const annotations = { 'core.rukpak.io/upload-digest': 'abc' };
    expect(client.peek({ name: 'demo' })?.metadata.annotations).toEqual(annotations);
  });

  test('changes nothing of a Bundle that is unpacked from these bytes, and nothing of another one', async () => {
    const bundle = aStoredBundle({ source, metadata: { annotations: pinned } });
    client.put({ ...bundle, status: { phase: 'Unpacked' } });
    expect(await announced({})).toBe(true);
    client.put({ ...bundle, status: { phase: 'Failing' } });
    expect(await announced({ digest: 'other' })).toBe(false);
    expect((client.peek({ name: 'demo' }) as Bundle).status).toEqual({ phase: 'Failing' });
    expect(await announced({})).toBe(true);
    expect((client.peek({ name: 'demo' }) as Bundle).status).toMatchObject({ phase: 'Pending' });
  });

  test('of the stored bytes ends the wait for another one that has failed', async () => {
    const annotations = { 'core.rukpak.io/upload-digest': 'receiving other' };
    client.put(aStoredBundle({ source, metadata: { annotations } }));
    expect(await announced({ isNew: false })).toBe(true);
    expect(client.peek({ name: 'demo' })).toMatchObject({
      metadata: { annotations: { 'core.rukpak.io/upload-digest': 'abc' } },
      status: { phase: 'Pending' },
    });
  });

  test('is announced while the reconciler writes the status, and never overwrites newer conditions', async () => {
    client.put(aStoredBundle({ source }));
    let writes = 3;
    client.beforeCall = (call) => {
      if (call !== 'patch' || writes-- === 0) return;
      const phase = writes === 0 ? 'Unpacked' : 'Failing';
      client.put(aStoredBundle({ source, status: { phase } }));
    };
    expect(await announce()).toEqual({ phase: 'Unpacked' });
    expect(client.count('patch')).toBe(3);
  });
});

describe('an upload that is about to replace another one', () => {
  const claim = async () =>
    await claimUpload({ name: 'demo', uid: 'uid-of-demo' }, { client, signal, digest: 'abc' });
  const note = () => client.peek({ name: 'demo' })?.metadata.annotations;

  test('changes the Bundle: what is unpacked meanwhile does not count', async () => {
    client.put(aStoredBundle({ source, status: { phase: 'Pending' } }));
    expect(await claim()).toBe(true);
    const claimed = client.peek({ name: 'demo' })?.metadata.resourceVersion;
    await announce('uid-of-demo', 'abc');
    expect(client.peek({ name: 'demo' })?.metadata.resourceVersion).not.toBe(claimed);
    expect(note()).toEqual({ 'core.rukpak.io/upload-digest': 'abc' });
  });

  test('is too late for a Bundle that is unpacked, also at this moment', async () => {
    client.put(aStoredBundle({ source, status: { phase: 'Pending' } }));
    client.beforeCall = (call) => {
      if (call !== 'patch') return;
      client.beforeCall = () => undefined;
      client.put(aStoredBundle({ source, status: { phase: 'Unpacked' } }));
    };
    expect(await claim()).toBe(false);
    expect(note()).toBeUndefined();
    expect(await claim()).toBe(false);
  });

  test('is refused by a Bundle that was unpacked from others, whatever its status says', async () => {
    const status = { phase: 'Failing' };
    client.put(aStoredBundle({ source, status, metadata: { annotations: pinned } }));
    expect(await claim()).toBe(true);
    const annotations = { 'core.rukpak.io/pin': 'sha256:other' };
    client.put(aStoredBundle({ source, status, metadata: { annotations } }));
    expect(await claim()).toBe(false);
    expect(note()).toEqual(annotations);
  });

  test('is no matter of a namesake, or of a Bundle that is gone', async () => {
    expect(await claim()).toBe(true);
    client.put(
      aStoredBundle({ source, metadata: { uid: 'another' }, status: { phase: 'Unpacked' } }),
    );
    expect(await claim()).toBe(true);
    expect(note()).toBeUndefined();
  });
});
