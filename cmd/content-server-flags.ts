import type { Command } from 'commander';
import { defaultContent } from '../core/manager/index.ts';
import type { ContentOptions } from '../core/run-manager.ts';
import { listenAddress } from './bind-address.ts';
import { collect, collectUrls, httpUrl } from './flag-values.ts';

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
