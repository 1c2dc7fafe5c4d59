import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { anArchive } from '../../test/helpers/archives.ts';
import { aSourceContext } from '../../test/helpers/source-context.ts';
import type { SourceResult } from '../contracts/source.ts';
import { TerminalError, WaitingError } from '../errors.ts';
import { createUploadSource } from './upload-source.ts';

async function fetch(...uploads: readonly Uint8Array[]): Promise<SourceResult> {
  const source = createUploadSource({
    async read({ name, uid }) {
      expect({ name, uid }).toEqual({ name: 'demo', uid: 'uid-of-demo' });
      const [upload] = uploads;
      return (
        upload &&
        (async function* () {
          yield upload;
        })()
      );
    },
  });
  return await source.fetch({ type: 'upload', upload: {} }, aSourceContext());
}

test('an upload is unpacked', async () => {
  const { files, resolvedSource } = await fetch(await anArchive({ 'manifests/a.yaml': 'a: 1' }));
  expect([...files.files.keys()]).toEqual(['manifests/a.yaml']);
  expect(resolvedSource).toEqual({ type: 'upload', upload: {} });
});

test('one that has not come is waited for, without looking again', async () => {
  await expect(fetch()).rejects.toThrow(
    new WaitingError('waiting for bundle to be uploaded', { retry: 'on-change' }),
  );
});

test.each([
  ['no gzip', Buffer.from('not an archive'), 'read response as gzip: gzip: invalid header'],
  ['nothing', Buffer.alloc(0), 'read response as gzip: unexpected EOF'],
  ['no tar', gzipSync('x'.repeat(600)), /^untar bundle contents from response: /],
])('one that is %s is refused', async (_what, bytes, text) => {
  const error = await fetch(bytes).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TerminalError);
  const { message } = error as Error;
  if (typeof text === 'string') expect(message).toBe(text);
  else expect(message).toMatch(text);
});

test('one with a pointer of Git LFS is refused, unless it is one of a picture', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1\n`;
  await expect(fetch(await anArchive({ 'chart/crds/a.yaml': pointer }))).rejects.toThrow(
    new TerminalError(
      'untar bundle contents from response: "chart/crds/a.yaml" is a pointer of Git LFS, whose file is not fetched: put the file itself into the archive, as `git lfs pull` does in a clone',
    ),
  );
  const { files } = await fetch(await anArchive({ 'chart/icon.png': pointer }));
  expect([...files.files.keys()]).toEqual(['chart/icon.png']);
});
