import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { JsonObject } from '../../api/json.ts';
import { isMap } from '../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { parseYaml } from '../../core/sdk.ts';

export interface ConfigFlags {
  readonly config?: string;
}

export function addConfigFlag(command: Command): Command {
  return command.option(
    '--config <file>',
    'spec.config of the BundleDeployment, as YAML: watchNamespace, env and so on of a registry bundle, values of a chart',
  );
}

/** @throws TerminalError that names the flag, where the file is not a map in YAML. */
export async function deploymentConfig({ config }: ConfigFlags): Promise<JsonObject | undefined> {
  if (config === undefined) return undefined;
  try {
    const value = parseYaml(await readFile(config));
    if (isMap(value)) return value;
    throw new TerminalError(
      'it holds no map: write what stands below spec.config, without "config:"',
    );
  } catch (error) {
    throw new TerminalError(`--config ${config}: ${errorMessage(error)}`, { cause: error });
  }
}
