import type { Command } from 'commander';
import type { RegistryOptions } from '../core/manager/index.ts';
import { collect } from './flag-values.ts';

/** How registries are reached. */
export interface RegistryFlags extends RegistryOptions {
  readonly insecureRegistry: readonly string[];
}

export function addRegistryFlags(command: Command): Command {
  return command
    .option(
      '--insecure-registry <host[:port]>',
      'registry to use over HTTP; repeatable',
      collect,
      [],
    )
    .option('--registry-ca-file <path>', 'more CAs (PEM) to trust for registries')
    .option(
      '--registry-certs-dir <dir>',
      'CAs and client certificates by registry, laid out as /etc/containers/certs.d',
    )
    .option(
      '--registries-conf <path>',
      'mirrors and blocked registries, in the format of containers-registries.conf; with <path>.d/*.conf',
    )
    .option('--image-policy <path>', 'who must have signed which images, as ClusterImagePolicies')
    .option('--sigstore-trusted-root <path>', 'trusted_root.json for signatures without a key');
}
