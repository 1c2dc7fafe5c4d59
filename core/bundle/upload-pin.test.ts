import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import { aKeptBundle, BundleFixture, tree } from '../../test/helpers/bundle-fixture.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { onlySource } from '../../test/helpers/source-types.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import type { Source } from '../contracts/source.ts';
import { isConflict } from '../platform/kube/index.ts';

const key = { name: 'demo', uid: 'uid-of-demo' };
const source = { type: 'upload', upload: {} };
const { pin, uploadDigest } = annotation;
const other = aTree({ 'manifests/cm.yaml': 'kind: Secret' });

/** SHA-256 of the stored upload. */
let stored: string | undefined;
const fetch = vi.fn<Source['fetch']>();

beforeEach(() => {
  stored = 'first';
  fetch.mockReset().mockImplementation(async () => ({
    files: stored === 'first' ? tree : other,
    resolvedSource: source,
  }));
});

function aFixture(bundle: Bundle = aStoredBundle({ source })): BundleFixture {
  const uploads = { delete: async () => undefined, digest: async () => stored };
  return new BundleFixture(bundle, { sources: onlySource('upload', fetch), uploads });
}

async function unpacked(): Promise<BundleFixture> {
  const fixture = aFixture();
  await fixture.reconcile();
  expect(fixture.live.status?.phase).toBe('Unpacked');
  return fixture;
}

function annotations(fixture: BundleFixture): Readonly<Record<string, string>> | undefined {
  return fixture.live.metadata.annotations;
}

/** As a PUT of other bytes does before it stores them, and after. */
function receive(fixture: BundleFixture, digest: string): () => void {
  const note = (value: string): void =>
    fixture.change({
      ...fixture.live,
      metadata: {
        ...fixture.live.metadata,
        annotations: { ...annotations(fixture), [uploadDigest]: value },
      },
    });
  note(`receiving ${digest}`);
  return () => {
    stored = digest;
    note(digest);
  };
}

/** An unpacked Bundle of a version of core that recorded no pins of uploads. */
async function anOlder(metadata: Bundle['metadata'] = {}): Promise<BundleFixture> {
  const { status } = (await unpacked()).live;
  fetch.mockClear();
  const finalizers = [finalizer.deleteCachedBundle];
  const bundle = aKeptBundle({ source, metadata: { finalizers, ...metadata } });
  return aFixture({ ...bundle, ...(status === undefined ? {} : { status }) });
}

describe('the bytes of an unpacked Bundle', () => {
  test('are noted before their content is stored', async () => {
    const fixture = aFixture();
    const put = vi.spyOn(fixture.store, 'put').mockImplementationOnce(async () => {
      expect(annotations(fixture)).toEqual({ [pin]: 'sha256:first' });
      throw new Error('disk full');
    });
    await fixture.failure();
    expect(put).toHaveBeenCalledTimes(1);
    expect(fixture.live.status?.phase).toBe('Failing');
    await fixture.reconcile();
    expect(fixture.live.status?.phase).toBe('Unpacked');
    expect(annotations(fixture)).toEqual({ [pin]: 'sha256:first' });
  });

  test.each(['Failing', 'Pending', undefined])(
    'stay its content, although its status says %s',
    async (phase) => {
      const fixture = await unpacked();
      const before = fixture.live.status;
      const { status: _, ...bundle } = fixture.live;
      fixture.change({ ...bundle, ...(phase === undefined ? {} : { status: { phase } }) });
      stored = 'second';
      await fixture.reconcile();
      expect(fetch).toHaveBeenCalledTimes(1);
      expect(fixture.live.status).toEqual(before);
      expect(await fixture.store.load(key)).toBe(tree);
    },
  );

  test('are awaited when the content is lost and others are stored', async () => {
    const fixture = await unpacked();
    await fixture.store.delete(key);
    stored = 'second';
    await fixture.failure();
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(fixture.status.phase).toBe('Pending');
    expect(fixture.status.conditions?.[0]?.message).toBe(
      'waiting for bundle to be uploaded again: it was unpacked from bytes with digest sha256:first, and those with digest sha256:second are stored',
    );
    stored = 'first';
    await fixture.reconcile();
    expect(fixture.live.status?.phase).toBe('Unpacked');
  });
});

describe('other bytes', () => {
  test('that arrive while the first ones are unpacked are the content', async () => {
    const fixture = aFixture(aKeptBundle({ source }));
    let store = (): void => undefined;
    fetch.mockImplementationOnce(async () => {
      store = receive(fixture, 'second');
      return { files: tree, resolvedSource: source };
    });
    expect(isConflict(await fixture.failure())).toBe(true);
    expect(annotations(fixture)?.[pin]).toBeUndefined();
    expect(await fixture.store.has(key)).toBe(false);
    store();
    await fixture.reconcile();
    expect(annotations(fixture)?.[pin]).toBe('sha256:second');
    expect(await fixture.store.load(key)).toBe(other);
  });

  test('that are being stored are awaited: the earlier ones are not unpacked', async () => {
    const fixture = aFixture(aKeptBundle({ source, metadata: { annotations: { [pin]: '' } } }));
    const store = receive(fixture, 'second');
    await fixture.failure();
    expect(fetch).not.toHaveBeenCalled();
    expect(fixture.status.conditions?.[0]).toMatchObject({
      reason: 'UnpackPending',
      message: 'an upload has begun to replace the bundle: repeat it if it has failed',
    });
    store();
    await fixture.reconcile();
    expect(annotations(fixture)?.[pin]).toBe('sha256:second');
  });
});

test('a status from before the first unpacking does not make stored content that of the Bundle', async () => {
  const { status } = (await unpacked()).live;
  const bundle = aKeptBundle({ source, metadata: { annotations: { [pin]: '' } } });
  const fixture = aFixture({ ...bundle, ...(status === undefined ? {} : { status }) });
  await fixture.store.put(key, other);
  await fixture.reconcile();
  expect(await fixture.store.load(key)).toBe(tree);
  expect(annotations(fixture)).toEqual({ [pin]: 'sha256:first' });
});

describe('a Bundle that an earlier version unpacked', () => {
  test('gets the pin of its stored bytes, and is not unpacked again', async () => {
    const fixture = await anOlder();
    await fixture.store.put(key, tree);
    const { status } = fixture.live;
    await fixture.reconcile();
    expect(annotations(fixture)).toEqual({ [pin]: 'sha256:first' });
    expect(fixture.live.status).toEqual(status);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('keeps its content without a pin when its bytes are lost', async () => {
    const fixture = await anOlder();
    await fixture.store.put(key, tree);
    const before = fixture.live;
    stored = undefined;
    await fixture.reconcile();
    expect(fixture.live).toEqual(before);
  });

  test('is unpacked from its bytes when its content is lost, although an upload to it failed', async () => {
    const annotations = { [uploadDigest]: 'receiving second' };
    const fixture = await anOlder({ annotations });
    await fixture.reconcile();
    expect(fixture.live.metadata.annotations).toEqual({ ...annotations, [pin]: 'sha256:first' });
    expect(await fixture.store.load(key)).toBe(tree);
  });
});
