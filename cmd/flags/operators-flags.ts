import type { Command } from 'commander';
import {
  featureGatesOption,
  type OperatorFeatureGates,
  operatorFeatureGates,
} from './feature-gates.ts';
import { booleanFlag, durationOption, httpUrl, withoutEffect } from './flag-values.ts';
import { addProcessFlags, bindAddress, listenAddress, type ProcessFlags } from './process-flags.ts';
import { addRegistryFlags, type RegistryFlags } from './registry-flags.ts';
import { type AddressFlags, addAddressFlags } from './source-flags.ts';

/** Flags of operators that `rukpak all` has too. */
export interface SharedOperatorsFlags {
  readonly catalogsServerAddr: string;
  readonly cacheDir: string;
  readonly gcInterval: number;
  readonly installDependencies: boolean;
}

/** Flags of `rukpak operators`: those of catalogd and operator-controller, and new ones. */
export interface OperatorsFlags
  extends ProcessFlags,
    SharedOperatorsFlags,
    RegistryFlags,
    AddressFlags {
  readonly leaderElect: boolean;
  readonly metricsBindAddress: string;
  readonly httpExternalAddress: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly featureGates: OperatorFeatureGates;
}

interface CatalogDefaults {
  readonly catalogsServerAddr: string;
  readonly cacheDir: string;
}

const podDefaults: CatalogDefaults = {
  catalogsServerAddr: ':8083',
  cacheDir: '/var/cache/catalogs',
};

export function addOperatorsFlags(command: Command): Command {
  addProcessFlags(command);
  addSharedOperatorsFlags(command);
  addRegistryFlags(command);
  addAddressFlags(command);
  return command
    .addOption(
      booleanFlag(
        'leader-elect',
        'Reconcile only while this process holds the lease operators.rukpak.io; without the flag it fails if another one holds it',
      ),
    )
    .option(
      '--metrics-bind-address <address>',
      'Address that serves /metrics; 0 disables it',
      bindAddress,
      ':8080',
    )
    .option(
      '--http-external-address <url>',
      'URL at which clients reach the content of catalogs',
      httpUrl,
      'http://rukpak-catalogs.rukpak-system.svc',
    )
    .option(
      '--tls-cert <path>',
      'TLS certificate (PEM) of the server of catalog content; needs --tls-key',
    )
    .option('--tls-key <path>', 'Private key (PEM) of --tls-cert')
    .addOption(featureGatesOption(operatorFeatureGates))
    .addOption(withoutEffect('--cache-path <dir>', 'Operators are resolved from --cache-dir'))
    .addOption(
      withoutEffect(
        '--profiling [bool]',
        'pprof is a tool for Go; NODE_OPTIONS=--cpu-prof writes a profile when the process ends',
      ),
    );
}

export function addSharedOperatorsFlags(command: Command, defaults = podDefaults): Command {
  return command
    .option(
      '--catalogs-server-addr <address>',
      'Address that the server of catalog content listens on',
      listenAddress,
      defaults.catalogsServerAddr,
    )
    .option(
      '--cache-dir <dir>',
      'Directory of catalog content; processes must not share it',
      defaults.cacheDir,
    )
    .addOption(
      durationOption(
        '--gc-interval',
        'Interval at which the process deletes content without a Catalog or ClusterCatalog',
        '12h',
      ),
    )
    .addOption(
      booleanFlag(
        'install-dependencies',
        'Create an Operator for each package that an Operator requires, and delete it with the last Operator that requires it',
      ),
    );
}
