import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { acceptsUpload, notedPin } from '../../api/v1alpha1/rules/upload-pin.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { ContentKey } from '../contracts/store.ts';
import { WaitingError } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import { isConflict, isNotFound, type KubeClient } from '../platform/kube/index.ts';
import { isReceiving, receivingUpload } from './fetch/stored-upload.ts';
import { notUnpacked, recordTransition } from './status.ts';

const received = new WaitingError('received bundle upload, waiting for provisioner to unpack it.');
const maxTries = 20;

/** The Bundle in the API server; undefined when there is none of that name. */
export async function findBundle(
  client: Pick<KubeClient, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<Bundle | undefined> {
  try {
    return (await client.get(bundleResource, { name }, signal)) as Bundle;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface AnnounceOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  readonly digest: string;
  /** Whether the bytes are newly stored. */
  readonly isNew: boolean;
}

/**
 * Sets a Bundle with uploaded content to Pending, unless it is deleted or was unpacked from these
 * bytes: the change wakes its reconciler. False if it was unpacked from others meanwhile.
 */
export async function announceUpload(key: ContentKey, options: AnnounceOptions): Promise<boolean> {
  if (options.isNew) await markUpload(key, options);
  for (let tries = 1; ; tries += 1) {
    const announced = await tryAnnounce(key, options);
    if (announced !== undefined) return announced;
    if (tries === maxTries) throw new Error(`the status of Bundle "${key.name}" changes too often`);
  }
}

/** Undefined when the Bundle has changed. */
async function tryAnnounce(
  key: ContentKey,
  options: AnnounceOptions,
): Promise<boolean | undefined> {
  const { client, digest, isNew, signal } = options;
  const bundle = await findBundle(client, key.name, signal);
  if (bundle?.metadata.uid !== key.uid) return true;
  if (!acceptsUpload(bundle, { digest, isStored: true })) return false;
  const isKnown = !isNew || notedPin(bundle) !== undefined;
  if (isKnown && bundle.status?.phase === 'Unpacked') return true;
  if (isReceiving(bundle)) {
    // Another upload began to replace these bytes, and failed.
    await markUpload(key, options);
    return undefined;
  }
  // The reconciler writes the status too, and newer conditions must not be overwritten.
  return (await writePending(bundle, options)) ? true : undefined;
}

/**
 * Changes a Bundle that is about to get other bytes, so that an unpacking of the earlier ones does not
 * count. False if it was unpacked from others, which the API server decides: its content stays.
 */
export async function claimUpload(
  { name, uid }: ContentKey,
  { client, digest, signal }: Pick<AnnounceOptions, 'client' | 'digest' | 'signal'>,
): Promise<boolean> {
  const target = { resource: bundleResource, key: { name } };
  for (let tries = 1; ; tries += 1) {
    const bundle = await findBundle(client, name, signal);
    // Nothing is unpacked from what is stored under its UID.
    if (bundle?.metadata.uid !== uid) return true;
    if (!acceptsUpload(bundle, { digest, isStored: false })) return false;
    const { resourceVersion } = bundle.metadata;
    // Another value than that of the announcement, which has to change the Bundle as well.
    const annotations = { [annotation.uploadDigest]: receivingUpload(digest) };
    const patch = { metadata: { uid, resourceVersion, annotations } };
    try {
      await client.patch(target, patch, { type: 'merge', signal });
      return true;
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      if (tries === maxTries)
        throw new Error(`Bundle "${name}" changes too often`, { cause: error });
    }
  }
}

/**
 * Changes the Bundle even if its status already reports a received upload: an unpacking of the
 * earlier bytes must not count as one of these.
 */
async function markUpload(
  { name, uid }: ContentKey,
  { client, digest, signal }: AnnounceOptions,
): Promise<void> {
  const patch = { metadata: { uid, annotations: { [annotation.uploadDigest]: digest } } };
  const target = { resource: bundleResource, key: { name } };
  await client.patch(target, patch, { type: 'merge', signal }).catch((error: unknown) => {
    // It was deleted, or replaced by another one of its name.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}

/**
 * Whether the write succeeded; false when the Bundle has changed or was deleted since it was read.
 */
async function writePending(
  bundle: Bundle,
  { client, clock, events, signal }: AnnounceOptions,
): Promise<boolean> {
  const { metadata, status = {} } = bundle;
  const { name = '', uid, resourceVersion } = metadata;
  const pending = notUnpacked(status, { error: received, prefix: '' }, clock);
  const patch = {
    metadata: { uid, resourceVersion },
    status: { ...pending, contentURL: null },
  };
  const target = { resource: bundleResource, key: { name } };
  try {
    const options = { type: 'merge', subresource: 'status', signal } as const;
    const after = (await client.patch(target, patch, options)) as Bundle;
    recordTransition(events, { before: bundle, after });
    return true;
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
    return false;
  }
}
