import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homeFolder } from '../../core/platform/kube/index.ts';
import type { RegistryFlags } from '../flags/registry-flags.ts';

/**
 * Registry settings of the machine, in the order of opm and other container tools:
 * `CONTAINERS_REGISTRIES_CONF`, else the user's registries.conf, else the system's; certificates
 * from the system's certs.d.
 */
export function systemRegistries(): RegistryFlags {
  const { CONTAINERS_REGISTRIES_CONF: named } = process.env;
  const registriesConf =
    named ??
    first([
      join(homeFolder(), '.config/containers/registries.conf'),
      '/etc/containers/registries.conf',
    ]);
  const registryCertsDir = first(['/etc/containers/certs.d', '/etc/docker/certs.d']);
  return {
    insecureRegistry: [],
    ...(registriesConf === undefined ? {} : { registriesConf }),
    ...(registryCertsDir === undefined ? {} : { registryCertsDir }),
  };
}

function first(paths: readonly string[]): string | undefined {
  return paths.find((path) => existsSync(path));
}
