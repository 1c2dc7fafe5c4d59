import { type Command, Option } from 'commander';
import { defaultContent } from '../../core/manager/index.ts';
import type { ContentOptions, UploadOptions } from '../../core/run-manager.ts';
import {
  collect,
  collectUrls,
  durationOption,
  httpUrl,
  listFlag,
  positiveInteger,
  withoutEffect,
} from './flag-values.ts';
import { listenAddress } from './process-flags.ts';

/** Flags of programs that store content and serve it. */
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
  readonly maxArchiveBytes?: number;
}

export interface ContentServerDefaults {
  readonly httpBindAddress: string;
  readonly provisionerStorageDir: string;
}

export function addContentServerFlags(command: Command, defaults: ContentServerDefaults): void {
  command
    .option(
      '--http-bind-address <address>',
      'Address that the content server listens on',
      listenAddress,
      defaults.httpBindAddress,
    )
    .option(
      '--http-external-address <url>',
      'URL at which other processes reach the content server',
      httpUrl,
      defaultContent.externalAddress,
    )
    .option(
      '--tls-cert-file <path>',
      'Certificate (PEM) with which the content server serves TLS; needs --tls-private-key-file',
    )
    .option('--tls-private-key-file <path>', 'Private key (PEM) of --tls-cert-file')
    .option(
      '--client-ca-file <path>',
      'CA (PEM) of client certificates that readers of content present (default: the cluster’s client CA)',
    )
    .addOption(
      listFlag(
        '--content-token-audience <audience>',
        'Audience of tokens that readers of content present',
        collect,
      ).default([], 'the API server’s'),
    )
    .option(
      '--provisioner-storage-dir <dir>',
      'Directory of the archives of unpacked Bundles',
      defaults.provisionerStorageDir,
    )
    .option(
      '--max-archive-bytes <n>',
      'Maximum total size of the archives in --provisioner-storage-dir in bytes (default: unlimited)',
      positiveInteger,
    )
    .option('--bundle-ca-file <path>', 'CA (PEM) of other content servers')
    .addOption(
      listFlag(
        '--content-server <url>',
        'URL of another content server, to which core sends its token',
        collectUrls,
      ),
    )
    .option(
      '--content-token-file <path>',
      'File with the token for other content servers (default: the pod’s token)',
    );
}

/** @throws Error that names a missing flag which another flag requires. */
export function contentOptions(flags: ContentServerFlags): ContentOptions {
  return {
    directory: flags.provisionerStorageDir,
    maxArchiveBytes: flags.maxArchiveBytes,
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

/** Flags of programs that accept and store uploads. */
export interface UploadFlags {
  readonly uploadStorage: UploadOptions['storage'];
  readonly uploadStorageDir: string;
  readonly uploadNamespace?: string;
  readonly uploadStorageSyncInterval: number;
  readonly maxUploadBytes?: number;
}

const mebibyte = 1024 * 1024;

/** Uploads in the cluster are stored in etcd, whose usual quota is 2 GiB for everything. */
const defaultMaxBytes = { directory: 64 * mebibyte, cluster: 16 * mebibyte } as const;

export function addUploadFlags(command: Command, uploadStorageDir: string): void {
  command
    .addOption(
      new Option(
        '--upload-storage <where>',
        'Storage of uploads: a directory of this process, or Secrets that all replicas share',
      )
        .choices(['directory', 'cluster'])
        .default('directory'),
    )
    .option(
      '--upload-storage-dir <dir>',
      'Directory of uploads; with --upload-storage=cluster, of uploads in progress',
      uploadStorageDir,
    )
    .option(
      '--upload-namespace <name>',
      'Namespace of uploads with --upload-storage=cluster (default: the system namespace)',
    )
    .addOption(
      durationOption(
        '--upload-storage-sync-interval',
        'Interval at which core deletes uploads without a Bundle',
        '1m',
      ),
    )
    .option(
      '--max-upload-bytes <n>',
      'Maximum size of an upload in bytes (default: 67108864, with --upload-storage=cluster 16777216)',
      positiveInteger,
    )
    .addOption(
      withoutEffect('--base-upload-manager-url <url>', 'core reads uploads from their storage'),
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
