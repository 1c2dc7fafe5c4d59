import { type Command, InvalidArgumentError } from 'commander';
import type { Logger } from '../../core/contracts/logger.ts';
import { followFile, readAuthorities } from '../../core/manager/index.ts';
import { ClientAuthorities } from '../../core/platform/certificates/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import type { TrustedClients } from '../../webhooks/index.ts';
import { collect, listFlag } from '../flags/flag-values.ts';

/** Flags that restrict the webhooks' callers, usually to the API server. */
export interface WebhookClientFlags {
  readonly clientCaFile?: string;
  readonly clientName?: readonly string[];
}

export function addWebhookClientFlags(command: Command): void {
  command
    .option(
      '--client-ca-file <path>',
      'CAs (PEM) of the client certificate that every caller, such as the API server, must present (default: no certificate needed)',
    )
    .addOption(
      listFlag(
        '--client-name <name>',
        'Common name that the client certificate must have',
        clientNames,
      ).default([], 'any'),
    );
}

/** An empty name, such as that of an unset variable, would allow every client of the CA. */
function clientNames(value: string, names: readonly string[]): readonly string[] {
  const added = collect(value, []);
  if (added.length > 0) return [...names, ...added];
  throw new InvalidArgumentError('It must not be empty: leave the flag out to allow any name.');
}

interface WebhookClients {
  readonly trusted: TrustedClients;
  /** Reads the file again when it changes, until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void>;
}

/**
 * Undefined when every client may call.
 * @throws Error of one sentence for invalid flags.
 */
export async function openWebhookClients(
  { clientCaFile: file, clientName: names = [] }: WebhookClientFlags,
  logger: Logger,
): Promise<WebhookClients | undefined> {
  if (file === undefined) {
    if (names.length > 0) throw new Error('--client-name needs --client-ca-file');
    return undefined;
  }
  const authorities = new ClientAuthorities();
  await readAuthorities(authorities, file);
  if (authorities.pem === undefined) {
    throw new Error(`cannot use --client-ca-file "${file}": it is empty`);
  }
  return {
    trusted: { authorities, names },
    follow: (signal) => followFile(authorities, file, { clock: systemClock, logger, signal }),
  };
}
