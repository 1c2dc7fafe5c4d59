import type { JsonObject } from '../../api/json.ts';
import type { RegistryConfig } from '../../provisioners/registry/index.ts';
import { parseConfig } from '../../provisioners/registry/index.ts';
import { warningLogger } from './warning-logger.ts';

export interface RegistryConfigOptions {
  /** spec.config as written. */
  readonly config?: JsonObject;
  /** In place of the installNamespace in it. */
  readonly installNamespace?: string;
}

/**
 * What a registry bundle is installed with; undefined where nothing is said, which is not the same
 * as an empty spec.config.
 * @throws TerminalError that names the field.
 */
export function registryConfigOf({
  config,
  installNamespace,
}: RegistryConfigOptions): RegistryConfig | undefined {
  if (config === undefined && installNamespace === undefined) return undefined;
  return parseConfig(
    { ...config, ...(installNamespace === undefined ? {} : { installNamespace }) },
    warningLogger,
  );
}
