import { type Command, InvalidArgumentError } from 'commander';
import { rangeProblem } from '../../core/platform/net/index.ts';
import { booleanFlag, collect, listFlag } from './flag-values.ts';

/** Addresses that sources of Bundles and catalogs may use. */
export interface AddressFlags {
  readonly allowSourceAddress: readonly string[];
  readonly denySourceAddress: readonly string[];
}

/** Addresses and Secrets that sources of Bundles may use. */
export interface SourceFlags extends AddressFlags {
  readonly allowUnscopedSourceSecrets: boolean;
}

export function addSourceFlags(command: Command): Command {
  return addAddressFlags(command).addOption(
    booleanFlag(
      'allow-unscoped-source-secrets',
      'Send source Secrets without annotation core.rukpak.io/source-hosts to any host that a Bundle names',
    ),
  );
}

export function addAddressFlags(command: Command): Command {
  return command
    .addOption(
      listFlag(
        '--allow-source-address <range>',
        'Address range (CIDR) that sources may connect to even if it is denied',
        collectRanges,
      ),
    )
    .addOption(
      listFlag(
        '--deny-source-address <range>',
        'Address range (CIDR) that sources may not connect to, in addition to loopback, link-local and private ranges',
        collectRanges,
      ),
    );
}

function collectRanges(value: string, values: readonly string[]): readonly string[] {
  const problem = collect(value, [])
    .map(rangeProblem)
    .find((each) => each !== undefined);
  if (problem !== undefined) throw new InvalidArgumentError(`${problem}.`);
  return collect(value, values);
}
