import type { Command } from 'commander';
import { durationOption, httpUrl } from '../flag-values.ts';

/** Where RukPak's cert-manager keeps the authority. */
export const defaultCaSecret = 'rukpak-ca';

/** How the content server is reached. */
export interface ServerFlags {
  /** URL that is spoken to directly, instead of through the API server. */
  readonly server?: string;
  /** PEM file of the authority of `server`; the system's otherwise. */
  readonly caFile?: string;
  /** Holds the authority of a server behind a Service, key `ca.crt`. */
  readonly caSecretName: string;
}

/** How the server that takes uploads is reached. */
export interface UploadFlags extends ServerFlags {
  readonly systemNamespace: string;
  readonly uploadServiceName: string;
  /** Milliseconds. */
  readonly timeout: number;
}

export function addServerFlags(command: Command): Command {
  return command
    .option(
      '--ca-secret-name <name>',
      'Secret with the CA of the server, key ca.crt; of the default, that of its certificate goes before',
      defaultCaSecret,
    )
    .option(
      '--server <url>',
      'speak to the content server at this URL, without a port-forward',
      httpUrl,
    )
    .option('--ca-file <path>', 'CA file for --server; the system’s authorities otherwise');
}

export function addUploadFlags(command: Command): Command {
  return addServerFlags(
    command
      .option('--system-namespace <name>', 'namespace that the core runs in', 'rukpak-system')
      .option('--upload-service-name <name>', 'Service of the upload manager', 'core')
      .addOption(durationOption('--timeout', 'how long to wait for each step', '60s')),
  );
}
