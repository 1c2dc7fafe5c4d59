import { readFile } from 'node:fs/promises';
import { Argument, Command, Option } from 'commander';
import { stringifyJson } from '../../api/json.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { type BundleFiles, defaultLimits, type KubernetesObject, toYaml } from '../../core/sdk.ts';
import { classNameOf, helmClass } from '../../provisioners/class-of-content.ts';
import { addRegistryFlags, type RegistryFlags } from '../flags/registry-flags.ts';
import { installableObjects } from './content/installable-objects.ts';
import { loadContent } from './content/load-content.ts';
import { localError } from './content/local-limits.ts';
import type { ChartOptions } from './content/render-chart.ts';
import type { RenderContentOptions } from './content/render-content.ts';
import { renderStream } from './content/render-stream.ts';
import {
  addThirdPartyFlag,
  chosenClass,
  type ThirdPartyFlags,
  withThirdParties,
} from './content/third-party-flag.ts';
import {
  addConfigFlag,
  addInstallNamespaceFlag,
  type ConfigFlags,
  deploymentConfig,
  type InstallNamespaceFlags,
  installNamespaceIn,
} from './flags.ts';
import { writeOutput } from './output/output.ts';

interface RenderFlags
  extends RegistryFlags,
    ChartFlags,
    ConfigFlags,
    ThirdPartyFlags,
    InstallNamespaceFlags {
  readonly class?: string;
  readonly output: 'yaml' | 'json';
  readonly stdin?: boolean;
}

/** `rukpakctl render`: the objects of a bundle, without a cluster. */
export function renderCommand(): Command {
  const command = new Command('render')
    .addArgument(new Argument('[bundle]', 'Directory or image of the bundle'))
    .option(
      '--class <name>',
      'Provisioner class of the bundle: plain, registry, helm or a full name (default: the class of --provisioner, else registry if metadata/annotations.yaml exists, else helm if Chart.yaml exists, else plain)',
    )
    .addOption(
      new Option(
        '-o, --output <format>',
        'Output format: YAML documents, or a JSON List as kubectl prints it',
      )
        .choices(['yaml', 'json'])
        .default('yaml'),
    )
    .option(
      '--stdin',
      'Read one directory per line from standard input, and print one line of JSON per bundle, in the same order. The exit code is 1 if a bundle is refused',
    )
    .action(render);
  addInstallNamespaceFlag(
    command,
    'Install namespace of a registry bundle (spec.config.installNamespace), which must exist, or namespace of a chart’s release (default: the namespace that the bundle suggests, which is then created with it)',
  );
  return addRegistryFlags(addChartFlags(addConfigFlag(addThirdPartyFlag(command))));
}

async function render(bundle: string | undefined, flags: RenderFlags): Promise<void> {
  const options = await renderOptions(flags);
  if (flags.stdin === true) {
    if (bundle !== undefined) throw new TerminalError('give either a bundle or --stdin, not both');
    if (flags.provisioner.length > 0) {
      throw new TerminalError(
        '--stdin renders bundles of built-in classes: leave out --provisioner',
      );
    }
    const stream = { ...options, limits: defaultLimits };
    const { failed } = await renderStream(process.stdin, process.stdout, stream);
    if (failed > 0) process.exitCode = 1;
    return;
  }
  if (bundle === undefined) throw new TerminalError('name a directory or image, or use --stdin');
  const files = await loadContent(bundle, {
    limits: defaultLimits,
    registries: flags,
  });
  const objects = await renderWith(files, flags, options).catch((error: unknown) => {
    throw localError(withWayOut(error));
  });
  await writeOutput([format(objects, flags.output)], process.stdout);
}

async function renderWith(
  files: BundleFiles,
  flags: RenderFlags,
  options: RenderContentOptions,
): Promise<readonly KubernetesObject[]> {
  return await withThirdParties(flags, async (classes) => {
    const own = chosenClass(classes, flags.class);
    refuseIdle(own?.className ?? classNameOf(files, flags.class), flags, own !== undefined);
    if (own === undefined) return await installableObjects(files, options);
    const { offlineObjects } = await import('./content/class-objects.ts');
    return await offlineObjects(files, own, options);
  });
}

/**
 * A class of a third party has facts of the cluster too, and no values.
 * @throws TerminalError for a flag that means nothing for content of the class
 */
function refuseIdle(className: string, flags: ChartFlags, isThirdParty: boolean): void {
  if (className === helmClass) return;
  const idle = chartFlags.find(
    ({ name, attribute }) =>
      flags[attribute] !== undefined && (!isThirdParty || name === '--values'),
  );
  if (idle === undefined) return;
  throw new TerminalError(
    `${idle.name}: only charts use it, and this is content of class "${className}": leave it out`,
  );
}

/** Without a cluster there is no spec.config to name: the message names the flag for it. */
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
  const installNamespace = installNamespaceIn(flags);
  return {
    chart: await chartOptions(flags),
    ...(config === undefined ? {} : { config }),
    ...(flags.class === undefined ? {} : { className: flags.class }),
    ...(installNamespace === undefined ? {} : { installNamespace }),
  };
}

function format(objects: readonly KubernetesObject[], output: RenderFlags['output']): string {
  if (output === 'yaml') return toYaml(objects);
  return `${stringifyJson({ apiVersion: 'v1', kind: 'List', items: objects }, 2)}\n`;
}

interface ChartFlags {
  readonly values?: string;
  readonly releaseName?: string;
  readonly kubeVersion?: string;
  readonly apiVersions?: string;
}

const chartFlags = [
  { name: '--values', attribute: 'values' },
  { name: '--release-name', attribute: 'releaseName' },
  { name: '--kube-version', attribute: 'kubeVersion' },
  { name: '--api-versions', attribute: 'apiVersions' },
] as const;

function addChartFlags(command: Command): Command {
  return command
    .option(
      '--values <file>',
      'Charts: YAML file of values that override the chart’s own, as spec.config.values',
    )
    .option('--release-name <name>', 'Charts: name of the BundleDeployment, and so of the release')
    .option('--kube-version <version>', 'Charts: version of Kubernetes to render for')
    .option(
      '--api-versions <list>',
      'Charts: API versions that the cluster serves besides those of Kubernetes, such as monitoring.coreos.com/v1',
    );
}

async function chartOptions(flags: ChartFlags): Promise<ChartOptions> {
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
