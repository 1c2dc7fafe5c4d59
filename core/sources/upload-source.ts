import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { unpackFetched } from '../content/index.ts';
import type { Source, SourceContext, SourceResult, SourceType } from '../contracts/source.ts';
import type { UploadStore } from '../contracts/upload-store.ts';
import { WaitingError } from '../errors.ts';

/** Sources of type upload. The status of its Bundle announces a new upload. */
export const uploadType: SourceType = {
  type: 'upload',
  pin: 'immutable',
  host: () => undefined,
  secret: () => undefined,
  shareable: false,
};

/** Content that a client uploads to the content server. */
export function createUploadSource(uploads: Pick<UploadStore, 'read'>): Source {
  return { ...uploadType, fetch: (source, context) => fetchUpload(source, context, uploads) };
}

async function fetchUpload(
  { type }: BundleSource,
  { bundle, limits, signal, memory }: SourceContext,
  uploads: Pick<UploadStore, 'read'>,
): Promise<SourceResult> {
  const body = await uploads.read(bundle, signal);
  if (body === undefined) {
    // The upload writes the Bundle's status, which wakes the Bundle.
    throw new WaitingError('waiting for bundle to be uploaded', { retry: 'on-change' });
  }
  const prefixes = {
    gzip: 'read response as gzip: ',
    tar: 'untar bundle contents from response: ',
  };
  const files = await unpackFetched(body, { limits, signal, memory, prefixes });
  return { files, resolvedSource: { type, upload: {} } };
}
