import type { Command } from 'commander';
import type { RegistryOptions } from '../../core/manager/index.ts';
import { collect, listFlag } from './flag-values.ts';

/** How to reach registries. */
export interface RegistryFlags extends RegistryOptions {
  readonly insecureRegistry: readonly string[];
}

export function addRegistryFlags(command: Command): Command {
  return command
    .addOption(
      listFlag('--insecure-registry <host[:port]>', 'Registry to reach over plain HTTP', collect),
    )
    .option('--registry-ca-file <path>', 'Additional CAs (PEM) for all registries')
    .option(
      '--registry-certs-dir <dir>',
      'Directory of CAs and client certificates per registry, laid out as /etc/containers/certs.d',
    )
    .option(
      '--registries-conf <path>',
      'Mirrors and blocked registries (containers-registries.conf file, merged with <path>.d/*.conf)',
    )
    .option('--image-policy <path>', 'Image signature policies (ClusterImagePolicy file)')
    .option(
      '--sigstore-trusted-root <path>',
      'Sigstore trusted root (trusted_root.json) for keyless signatures',
    );
}
