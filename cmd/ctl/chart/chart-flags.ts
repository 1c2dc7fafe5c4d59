import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { ChartOptions } from './render-chart.ts';

export interface ChartFlags {
  readonly values?: string;
  readonly releaseName?: string;
  readonly kubeVersion?: string;
  readonly apiVersions?: string;
}

export function addChartFlags(command: Command): Command {
  return command
    .option('--values <file>', 'of a chart: YAML over its own values, as spec.config.values')
    .option('--release-name <name>', 'of a chart: the name that its BundleDeployment would have')
    .option('--kube-version <version>', 'of a chart: version of Kubernetes to render it for')
    .option(
      '--api-versions <list>',
      'of a chart: what the cluster serves besides Kubernetes itself, such as monitoring.coreos.com/v1',
    );
}

export async function chartOptions(flags: ChartFlags): Promise<ChartOptions> {
  const { values, releaseName, kubeVersion, apiVersions } = flags;
  return {
    ...(values === undefined ? {} : { values: await textOf(values) }),
    ...(releaseName === undefined ? {} : { releaseName }),
    ...(kubeVersion === undefined ? {} : { kubeVersion }),
    ...(apiVersions === undefined ? {} : { apiVersions: apiVersions.split(',') }),
  };
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new TerminalError(`--values: ${errorMessage(error)}`, { cause: error });
  }
}
