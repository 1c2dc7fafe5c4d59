import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addUploadFlags, type UploadFlags, uploadOptions } from './content-server-flags.ts';

function options(...args: readonly string[]) {
  const command = new Command();
  addUploadFlags(command, '/uploads');
  return uploadOptions(command.parse(args, { from: 'user' }).opts<UploadFlags>());
}

test('what the cluster keeps is smaller unless it is told', () => {
  expect(options()).toEqual({
    storage: 'directory',
    directory: '/uploads',
    maxBytes: 64 * 1024 * 1024,
    syncInterval: 60_000,
  });
  expect(options('--upload-storage=cluster').maxBytes).toBe(16 * 1024 * 1024);
  expect(options('--upload-storage=cluster', '--max-upload-bytes=5').maxBytes).toBe(5);
});
