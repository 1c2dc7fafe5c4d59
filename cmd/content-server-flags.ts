import { type Command, Option } from 'commander';
import { defaultContent } from '../core/manager/index.ts';
import type { ContentOptions, UploadOptions } from '../core/run-manager.ts';
import {
  collect,
  collectUrls,
  durationOption,
  httpUrl,
  positiveInteger,
  withoutEffect,
} from './flag-values.ts';
import { listenAddress } from './process-flags.ts';

/** Flags of what keeps content and serves it. */
export interface ContentServerFlags {
  readonly httpBindAddress: string;
  readonly httpExternalAddress: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly clientCaFile?: string;
  readonly contentTokenAudience: readonly string[];
  readonly bundleCaFile?: string;
  readonly contentServer: readonly string[];
  readonly contentTokenFile?: string;
  readonly provisionerStorageDir: string;
}

export interface ContentServerDefaults {
  readonly httpBindAddress: string;
  readonly provisionerStorageDir: string;
}

export function addContentServerFlags(command: Command, defaults: ContentServerDefaults): void {
  command
    .option(
      '--http-bind-address <address>',
      'where the content server listens',
      listenAddress,
      defaults.httpBindAddress,
    )
    .option(
      '--http-external-address <url>',
      'where others reach it',
      httpUrl,
      defaultContent.externalAddress,
    )
    .option('--tls-cert-file <path>', 'serve content over TLS with this certificate')
    .option('--tls-private-key-file <path>', 'its key')
    .option(
      '--client-ca-file <path>',
      'CA (PEM) of readers’ client certificates; the cluster’s own otherwise',
    )
    .option(
      '--content-token-audience <audience>',
      'what readers’ tokens are for; the API server’s own audience otherwise; repeatable',
      collect,
      [],
    )
    .option(
      '--provisioner-storage-dir <dir>',
      'where archives are kept',
      defaults.provisionerStorageDir,
    )
    .option('--bundle-ca-file <path>', 'CA (PEM) of other content servers')
    .option(
      '--content-server <url>',
      'another content server that gets our token; repeatable',
      collectUrls,
      [],
    )
    .option('--content-token-file <path>', 'this token; the pod’s own otherwise');
}

/** @throws Error where flags are missing that others need. */
export function contentOptions(flags: ContentServerFlags): ContentOptions {
  return {
    directory: flags.provisionerStorageDir,
    bindAddress: flags.httpBindAddress,
    externalAddress: flags.httpExternalAddress,
    tls: tlsFiles(flags),
    clientCaFile: flags.clientCaFile,
    tokenAudiences: flags.contentTokenAudience,
    contentServers: flags.contentServer,
    caFile: flags.bundleCaFile,
    tokenFile: flags.contentTokenFile,
  };
}

function tlsFiles({ tlsCertFile, tlsPrivateKeyFile }: ContentServerFlags): ContentOptions['tls'] {
  if (tlsCertFile === undefined && tlsPrivateKeyFile === undefined) return undefined;
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) {
    throw new Error('--tls-cert-file and --tls-private-key-file need each other');
  }
  return { certFile: tlsCertFile, keyFile: tlsPrivateKeyFile };
}

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
