import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { notedPin, uploadPin } from '../../../api/v1alpha1/rules/upload-pin.ts';
import { WaitingError } from '../../errors.ts';
import { storedContentKey, type UnpackDependencies } from '../dependencies.ts';

type UploadDependencies = Pick<UnpackDependencies, 'uploads'>;

/** Before the digest in the annotation of an upload that is being stored. */
const receiving = 'receiving ';

/** The value of annotation `upload-digest` while these bytes replace others. */
export function receivingUpload(digest: string): string {
  return receiving + digest;
}

export function isReceiving({ metadata }: Bundle): boolean {
  return metadata.annotations?.[annotation.uploadDigest]?.startsWith(receiving) === true;
}

/** The pin of the bytes that are stored for a Bundle; undefined for none, and for other sources. */
export async function pinOfUpload(
  bundle: Bundle,
  { uploads }: UploadDependencies,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (bundle.spec.source.type !== 'upload') return undefined;
  const digest = await uploads?.digest(storedContentKey(bundle), signal);
  return digest === undefined ? undefined : uploadPin(digest);
}

/**
 * The same, of bytes from which the Bundle may be unpacked. They stay the stored ones while the
 * Bundle does not change: an upload changes it before it replaces them.
 * @throws WaitingError until the Bundle has its bytes.
 */
export async function pinToUnpack(
  bundle: Bundle,
  dependencies: UploadDependencies,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (bundle.spec.source.type !== 'upload') return undefined;
  const pin = notedPin(bundle);
  // An earlier version of core left the annotation when an upload failed, but replaced no bytes of
  // an unpacked Bundle.
  if (pin === undefined && isReceiving(bundle) && bundle.status?.phase !== 'Unpacked') {
    throw waiting('an upload has begun to replace the bundle: repeat it if it has failed');
  }
  const stored = await pinOfUpload(bundle, dependencies, signal);
  if (pin === undefined || stored === undefined || stored === pin) return stored;
  throw waiting(
    `waiting for bundle to be uploaded again: it was unpacked from bytes with digest ${pin}, and those with digest ${stored} are stored`,
  );
}

/** The upload changes the Bundle, which wakes it. */
function waiting(message: string): WaitingError {
  return new WaitingError(message, { retry: 'on-change' });
}
