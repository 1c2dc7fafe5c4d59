import { type Command, Option } from 'commander';
import type { UploadOptions } from '../core/run-manager.ts';
import { durationOption, positiveInteger, withoutEffect } from './flag-values.ts';

/** Flags of what takes uploads and keeps them. */
export interface UploadFlags {
  readonly uploadStorage: UploadOptions['storage'];
  readonly uploadStorageDir: string;
  readonly uploadNamespace?: string;
  readonly uploadStorageSyncInterval: number;
  readonly maxUploadBytes?: number;
}

const mebibyte = 1024 * 1024;

/** What a cluster keeps lies in etcd, whose usual quota is 2 GiB for everything. */
const defaultMaxBytes = { directory: 64 * mebibyte, cluster: 16 * mebibyte } as const;

export function addUploadFlags(command: Command, uploadStorageDir: string): void {
  command
    .addOption(
      new Option(
        '--upload-storage <where>',
        'keep uploads in a directory, or in the cluster for all',
      )
        .choices(['directory', 'cluster'])
        .default('directory'),
    )
    .option(
      '--upload-storage-dir <dir>',
      'where uploads are kept, or only received with --upload-storage=cluster',
      uploadStorageDir,
    )
    .option(
      '--upload-namespace <name>',
      'where the cluster keeps them with --upload-storage=cluster; the system namespace otherwise',
    )
    .addOption(
      durationOption('--upload-storage-sync-interval', 'how often unwanted ones are removed', '1m'),
    )
    .option(
      '--max-upload-bytes <n>',
      'bound on one upload (default: 64 MiB, with --upload-storage=cluster 16 MiB)',
      positiveInteger,
    )
    .addOption(
      withoutEffect('--base-upload-manager-url <url>', 'uploads are read where they are kept'),
    );
}

export function uploadOptions(flags: UploadFlags): UploadOptions {
  return {
    storage: flags.uploadStorage,
    directory: flags.uploadStorageDir,
    namespace: flags.uploadNamespace,
    maxBytes: flags.maxUploadBytes ?? defaultMaxBytes[flags.uploadStorage],
    syncInterval: flags.uploadStorageSyncInterval,
  };
}
