import { Argument, Command, Option } from 'commander';
import { stringifyJson } from '../../api/json.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { defaultLimits, type KubernetesObject, toYaml } from '../../core/sdk.ts';
import { addRegistryFlags, type RegistryFlags } from '../registry-flags.ts';
import { addChartFlags, type ChartFlags, chartOptions } from './chart/chart-flags.ts';
import { addConfigFlag, type ConfigFlags, deploymentConfig } from './config-flag.ts';
import { loadContent } from './load-content.ts';
import { type RenderContentOptions, renderContent } from './render-content.ts';
import { renderStream } from './render-stream.ts';
import { writeOutput } from './write-output.ts';

interface RenderFlags extends RegistryFlags, ChartFlags, ConfigFlags {
  readonly class?: string;
  readonly installNamespace?: string;
  readonly output: 'yaml' | 'json';
  readonly stdin?: boolean;
}

/** `rukpakctl render`: what a bundle becomes, without a cluster. */
export function renderCommand(): Command {
  const command = new Command('render')
    .description('print the objects that a bundle would install, without a cluster')
    .addArgument(new Argument('[bundle]', 'directory or image that holds the bundle'))
    .option(
      '--class <name>',
      'provisioner class of the bundle: plain, registry or helm, or its full name (default: registry where metadata/annotations.yaml exists, helm where Chart.yaml does, else plain)',
    )
    .option(
      '--install-namespace <name>',
      'namespace for the objects of a registry bundle, as spec.config.installNamespace: one that is there, and not among the objects (default: the one it suggests, which is); and of the release of a chart',
    )
    .addOption(
      new Option('--output <format>', 'YAML documents, or a JSON List as kubectl prints it')
        .choices(['yaml', 'json'])
        .default('yaml'),
    )
    .option(
      '--stdin',
      'read a directory per line and print, in the same order, a line of JSON per bundle',
    )
    .action(render);
  return addRegistryFlags(addChartFlags(addConfigFlag(command)));
}

async function render(bundle: string | undefined, flags: RenderFlags): Promise<void> {
  const options = await renderOptions(flags);
  if (flags.stdin === true) {
    if (bundle !== undefined) throw new TerminalError('give either a bundle or --stdin, not both');
    await renderStream(process.stdin, process.stdout, { ...options, limits: defaultLimits });
    return;
  }
  if (bundle === undefined) throw new TerminalError('name a directory or image, or use --stdin');
  const files = await loadContent(bundle, {
    limits: defaultLimits,
    registries: flags,
  });
  const objects = await renderContent(files, options).catch((error: unknown) => {
    throw withWayOut(error);
  });
  await writeOutput([format(objects, flags.output)], process.stdout);
}

/** Without a cluster there is no spec.config to point at: the flag that stands for it is named. */
function withWayOut(error: unknown): unknown {
  const message = errorMessage(error);
  if (!message.includes('AllNamespace install mode must be enabled')) return error;
  return new TerminalError(
    `${message}: say in --config FILE what it watches (rukpakctl validate has what to write)`,
    { cause: error },
  );
}

async function renderOptions(flags: RenderFlags): Promise<RenderContentOptions> {
  const config = await deploymentConfig(flags);
  return {
    chart: await chartOptions(flags),
    ...(config === undefined ? {} : { config }),
    ...(flags.class === undefined ? {} : { className: flags.class }),
    ...(flags.installNamespace === undefined ? {} : { installNamespace: flags.installNamespace }),
  };
}

function format(objects: readonly KubernetesObject[], output: RenderFlags['output']): string {
  if (output === 'yaml') return toYaml(objects);
  return `${stringifyJson({ apiVersion: 'v1', kind: 'List', items: objects }, 2)}\n`;
}
