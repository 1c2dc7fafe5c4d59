import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { aKeptBundle, BundleFixture, pinned, tree } from '../../test/helpers/bundle-fixture.ts';
import { anImage } from '../../test/helpers/objects.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { defaultLimits } from '../content/index.ts';
import { TerminalError, WaitingError } from '../errors.ts';

const now = '2026-01-01T00:00:00Z';
const contentURL = 'https://content.example/bundles/demo.tgz';

function theCondition(
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
): BundleStatus {
  const condition = { type: 'Unpacked', status, reason, message, lastTransitionTime: now };
  return { observedGeneration: 1, conditions: [condition] };
}

const unpacked: BundleStatus = {
  ...theCondition('True', 'UnpackSuccessful', 'Successfully unpacked the image Bundle'),
  phase: 'Unpacked',
  resolvedSource: pinned,
  contentURL,
};

test('a Bundle that is gone before its status is written is no failure', async () => {
  const fixture = new BundleFixture(aKeptBundle());
  fixture.handler.mockImplementation(async () => {
    fixture.client.drop({ name: 'demo' });
    throw new TerminalError('it cannot be used');
  });
  expect(await fixture.failure()).toBeUndefined();
  expect(fixture.events.taken()).toEqual([]);
});

describe('the status says', () => {
  test('Unpacked: what was fetched, by its class, is stored', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    const converted = aTree({ 'converted.yaml': 'kind: ConfigMap' });
    fixture.handler.mockResolvedValue(converted);
    await fixture.reconcile();
    expect(fixture.status).toEqual(unpacked);
    expect(fixture.fetch.mock.calls[0]?.[0]).toEqual(anImage('example.com/app:v1'));
    expect(fixture.handler.mock.calls[0]?.[0]).toBe(tree);
    expect(await fixture.store.load({ name: 'demo', uid: 'uid-of-demo' })).toBe(converted);
    expect(fixture.events.taken()).toEqual([
      'Normal UnpackSuccessful: Successfully unpacked the image Bundle',
    ]);
  });

  test.each(['Back-off pulling image "example.com/app:v1"', ''])(
    'Pending where the source waits, and the message has no prefix: "%s"',
    async (message) => {
      const fixture = new BundleFixture(aKeptBundle());
      const waiting = new WaitingError(message);
      fixture.fetch.mockRejectedValue(waiting);
      expect(await fixture.failure()).toBe(waiting);
      expect(fixture.status).toEqual({
        ...theCondition('False', 'UnpackPending', message),
        phase: 'Pending',
      });
      expect(fixture.events.taken()).toEqual([`Warning UnpackPending: ${message}`]);
    },
  );

  test('Failing where the source fails, and it is tried again', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    const broken = new Error('connection reset');
    fixture.fetch.mockRejectedValue(broken);
    expect(await fixture.failure()).toBe(broken);
    expect(fixture.status).toEqual({
      ...theCondition('False', 'UnpackFailed', 'source bundle content: connection reset'),
      phase: 'Failing',
    });
    expect(fixture.events.taken()).toEqual([
      'Warning UnpackFailed: source bundle content: connection reset',
    ]);
  });

  test('Failing where only another spec helps, and it is not tried again', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.fetch.mockRejectedValue(new TerminalError('not a tar archive'));
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.status).toMatchObject({
      phase: 'Failing',
      conditions: [{ message: 'source bundle content: not a tar archive' }],
    });
  });

  test('tried again after a refusal once its annotations change, and then not fetched again', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.handler.mockRejectedValueOnce(new TerminalError('AllNamespace must be enabled'));
    await fixture.reconcile();
    const marked = (value: string): Bundle => {
      const { metadata } = fixture.live;
      return { ...fixture.live, metadata: { ...metadata, annotations: { configured: value } } };
    };
    fixture.change(marked('true'));
    await fixture.reconcile();
    expect(fixture.status).toMatchObject({ phase: 'Unpacked' });
    expect(fixture.handler.mock.calls[1]?.[1].metadata.annotations).toEqual({ configured: 'true' });
    fixture.change(marked('false'));
    await fixture.reconcile();
    expect(fixture.fetch).toHaveBeenCalledTimes(2);
    expect(fixture.handler).toHaveBeenCalledTimes(2);
  });

  test.each(['http', 'toString', ''])('Failing for source type "%s"', async (type) => {
    const fixture = new BundleFixture(aKeptBundle({ source: { type } }));
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.status).toEqual({
      ...theCondition(
        'False',
        'UnpackFailed',
        `source bundle content: source type "${type}" not supported`,
      ),
      phase: 'Failing',
    });
  });

  test('Failing with the words of its class, and which one that is', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    const refused = new Error('manifests: no such directory');
    fixture.handler.mockRejectedValue(refused);
    expect(await fixture.failure()).toBe(refused);
    expect(fixture.status).toEqual({
      ...theCondition(
        'False',
        'UnpackFailed',
        'class "plain", bundle(): manifests: no such directory',
      ),
      phase: 'Failing',
    });
    expect(await fixture.store.has({ name: 'demo', uid: 'uid-of-demo' })).toBe(false);
  });

  test('Failing with the very words of one of RukPak’s classes', async () => {
    const provisionerClassName = 'core-rukpak-io-plain';
    const bundle = aKeptBundle();
    const handler = async () => Promise.reject(new Error('manifests: no such directory'));
    const provisioners = new Map([
      [provisionerClassName, { className: provisionerClassName, bundle: handler }],
    ]);
    const spec = { ...bundle.spec, provisionerClassName };
    const fixture = new BundleFixture({ ...bundle, spec }, { provisioners });
    await fixture.failure();
    expect(fixture.summary[0]).toBe('Ready False UnpackFailed: manifests: no such directory');
  });

  test('Failing where the class makes more of it than there may be: it could never be loaded', async () => {
    const fixture = new BundleFixture(aKeptBundle(), {
      limits: { ...defaultLimits, maxBytes: 10 },
    });
    fixture.handler.mockResolvedValue(aTree({ 'manifests/a.yaml': 'kind: ConfigMap' }));
    await fixture.reconcile();
    expect(fixture.live.status?.conditions?.[0]?.message).toBe(
      'content is larger than the limit of 10 bytes (--max-content-bytes)',
    );
  });

  test('Failing where the content cannot be stored', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.store.put = () => Promise.reject(new Error('no space left on device'));
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.status).toEqual({
      ...theCondition('False', 'UnpackFailed', 'persist bundle content: no space left on device'),
      phase: 'Failing',
    });
  });

  test('Failing where there is no URL for the content', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.store.contentURL = () => {
      throw new Error('no address');
    };
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.status).toEqual({
      ...theCondition('False', 'UnpackFailed', 'get content URL: no address'),
      phase: 'Failing',
    });
  });

  test.each([
    [undefined, 'undefined'],
    ['just text', 'just text'],
    [{ message: 'no error' }, '[object Object]'],
  ])('Failing where %o is thrown', async (thrown, message) => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.handler.mockRejectedValue(thrown);
    await expect(fixture.reconcile()).rejects.toBe(thrown);
    expect(fixture.status).toMatchObject({ phase: 'Failing', conditions: [{ message }] });
  });

  test('no credentials, and no more than a status holds', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    const text = `https://user:secret@example.com ${'x'.repeat(40_000)}`;
    fixture.fetch.mockRejectedValue(new TerminalError(text));
    await fixture.reconcile();
    const message = fixture.live.status?.conditions?.[0]?.message ?? '';
    expect(message).toMatch(/^source bundle content: https:\/\/example\.com x/);
    expect(message.length).toBeLessThanOrEqual(32_768);
  });
});

describe('a status is written', () => {
  test('once in a reconcile, for exactly this Bundle', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    expect(fixture.phases).toEqual(['Unpacked']);
    const sent = fixture.client.patches.at(-1);
    expect(sent?.patch).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-of-demo' },
      { op: 'add', path: '/status', value: fixture.live.status },
    ]);
    expect(fixture.status).toEqual(unpacked);
    expect(sent?.options).toMatchObject({ type: 'json', subresource: 'status' });
  });

  test('never on a namesake that was made since', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.client.drop({ name: 'demo' });
    fixture.client.put(aStoredBundle({ metadata: { uid: 'another' } }));
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.live.status).toBeUndefined();
  });

  test('only when something changed: a failure that repeats says nothing new', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.fetch.mockRejectedValue(new Error('connection reset'));
    await fixture.failure();
    fixture.clock.advance(60_000);
    await fixture.failure();
    expect(fixture.phases).toEqual(['Failing']);
    expect(fixture.events.taken()).toHaveLength(1);
    fixture.fetch.mockRejectedValue(new Error('no route to host'));
    await fixture.failure();
    expect(fixture.phases).toEqual(['Failing', 'Failing']);
    expect(fixture.live.status?.conditions?.[0]?.lastTransitionTime).toBe(now);
    expect(fixture.events.taken()).toHaveLength(1);
  });

  test('again where the write failed, terminal errors included', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.fetch.mockRejectedValue(new TerminalError('not a tar archive'));
    fixture.client.faults.patch = [new Error('socket hang up')];
    expect(await fixture.failure()).toEqual(new Error('socket hang up'));
    expect(fixture.events.taken()).toEqual([]);
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.live.status?.phase).toBe('Failing');
    expect(fixture.events.taken()).toHaveLength(1);
  });

  test('not when the process stops', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.fetch.mockImplementation(() => {
      fixture.stop.abort(new Error('the controller stops'));
      return Promise.reject(new Error('socket hang up'));
    });
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.client.calls).toEqual([]);
  });
});

describe('left alone is', () => {
  test('a Bundle of a class that is not served here', async () => {
    const fixture = new BundleFixture(aKeptBundle({ className: 'acme' }));
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.fetch).not.toHaveBeenCalled();
  });

  test('a Bundle that is gone', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile('another');
    expect(fixture.client.calls).toEqual([]);
  });
});

describe('a time limit holds', () => {
  const limits = { ...defaultLimits, timeout: 100 };
  const never = new Promise<never>(() => undefined);
  const tooLong = 'took longer than the limit of 0.1 s (--content-timeout)';

  test('for a source that ignores its signal', async () => {
    const fixture = new BundleFixture(aKeptBundle(), { limits });
    fixture.fetch.mockReturnValue(never);
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.status).toMatchObject({
      phase: 'Failing',
      conditions: [{ reason: 'UnpackFailed', message: `source bundle content: ${tooLong}` }],
    });
  });

  test('for a class that ignores its signal', async () => {
    const fixture = new BundleFixture(aKeptBundle(), { limits });
    fixture.handler.mockReturnValue(never);
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.status).toMatchObject({
      phase: 'Failing',
      conditions: [{ reason: 'UnpackFailed', message: `class "plain", bundle(): ${tooLong}` }],
    });
  });

  test('for a source that keeps it itself, and may call it Pending', async () => {
    const slow = { ...defaultLimits, timeout: 200 };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const fixture = new BundleFixture(aKeptBundle(), { limits: slow });
    fixture.fetch.mockImplementation(async (_, { limits }) => {
      await new Promise((resolve) => setTimeout(resolve, limits.timeout));
      throw new WaitingError('Back-off pulling image "example.com/app:v1": too slow');
    });
    const failure = fixture.failure();
    await vi.advanceTimersByTimeAsync(slow.timeout);
    expect(await failure).toBeInstanceOf(WaitingError);
    expect(fixture.live.status?.phase).toBe('Pending');
  });
});
