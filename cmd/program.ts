import { join } from 'node:path';
import { Command } from 'commander';
import type { Logger } from '../core/contracts/logger.ts';
import { errorMessage } from '../core/errors.ts';
import { homeFolder } from '../core/platform/kube/index.ts';
import type { LogLevel } from '../core/platform/observe/index.ts';
import type { Zone } from '../core/run-manager.ts';
import { version } from './build-info.ts';
import { addCoreFlags, type CoreFlags, laptopFolders } from './flags/core-flags.ts';
import { coreFeatureGates, operatorFeatureGates } from './flags/feature-gates.ts';
import {
  addOperatorsFlags,
  addSharedOperatorsFlags,
  type OperatorsFlags,
} from './flags/operators-flags.ts';
import { systemNamespaceOf } from './flags/process-flags.ts';
import {
  addCrdGuardFlags,
  addCrdvalidatorFlags,
  addWebhookFlags,
  addWebhookServerFlags,
  type CrdvalidatorFlags,
  type WebhookFlags,
} from './flags/webhook-flags.ts';
import { addZoneFlags } from './flags/zone-flags.ts';
import { describeHelpFlag, helpCommand } from './help-command.ts';
import { addInstallationCommands } from './installation/commands.ts';
import type { runAll } from './processes/run-all.ts';

/** Loopback addresses only, and no folder that requires root. */
const laptopDefaults = {
  httpBindAddress: '127.0.0.1:8080',
  healthProbeBindAddress: '127.0.0.1:8081',
  ...laptopFolders,
  catalogsServerAddr: '127.0.0.1:8083',
  cacheDir: join(homeFolder(), '.cache', 'rukpak-ts', 'catalogs'),
  featureGates: { ...coreFeatureGates, ...operatorFeatureGates },
};

/** The stop signal of a command, and where it prints and logs. */
interface Surroundings {
  /** Called when a command first needs it. */
  readonly stopSignal: () => AbortSignal;
  readonly createLogger: (level: LogLevel) => Logger;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
}

/**
 * Runs the command that the arguments name. Returns its exit code; 1 after printing an error of one
 * line.
 */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  try {
    await createProgram(surroundings).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    surroundings.printError(`rukpak: ${errorMessage(error)}`);
    return 1;
  }
}

/** Each command loads only its own program, to save memory. */
function createProgram(surroundings: Surroundings): Command {
  const { stopSignal, createLogger } = surroundings;
  const program = new Command('rukpak')
    .description('Manage Bundles and BundleDeployments on a Kubernetes cluster')
    .version(version(), '--version', 'Print the version');
  addInstallationCommands(program, surroundings);
  addCoreFlags(program.command('core').description('Run the reconcilers and the content server'))
    .version(version(), '--version', 'Print the version')
    .action(async (flags: CoreFlags) => {
      const { runCore } = await import('./processes/run-core.ts');
      await runCore(flags, createLogger(flags.zapLogLevel), stopSignal());
    });
  for (const zone of zones) addZone(program, surroundings, zone);
  addWebhookFlags(program.command('webhooks').description('Run the admission webhooks'))
    .version(version(), '--version', 'Print the version')
    .action(async (flags: WebhookFlags) => {
      const systemNamespace = systemNamespaceOf(flags);
      const logger = createLogger(flags.zapLogLevel);
      const bindAddress = flags.webhookBindAddress;
      const { runWebhooks } = await import('./webhooks/run-webhooks.ts');
      await runWebhooks({ ...flags, systemNamespace, bindAddress, logger }, stopSignal());
    });
  addCrdvalidatorFlags(
    program
      .command('crdvalidator')
      .description('Run the admission webhook that refuses unsafe CRD upgrades'),
  )
    .version(version(), '--version', 'Print the version')
    .action(async (flags: CrdvalidatorFlags) => {
      const { runCrdvalidator } = await import('./webhooks/run-crdvalidator.ts');
      await runCrdvalidator(flags, createLogger(flags.zapLogLevel), stopSignal());
    });
  addOperators(program, surroundings);
  addAll(program, surroundings);
  return describeHelpFlag(program.addCommand(helpCommand()));
}

function addOperators(program: Command, { stopSignal, createLogger }: Surroundings): void {
  const operators = program
    .command('operators')
    .description(
      'Serve catalogs and install the packages of Operators and ClusterExtensions (OLM 1.0)',
    );
  addOperatorsFlags(operators)
    .version(version(), '--version', 'Print the version')
    .action(async (flags: OperatorsFlags) => {
      const { runOperators } = await import('./processes/run-operators.ts');
      await runOperators(flags, createLogger(flags.zapLogLevel), stopSignal());
    });
}

function addAll(program: Command, { stopSignal, createLogger }: Surroundings): void {
  const all = program
    .command('all')
    .description('Run core, webhooks, crdvalidator and operators in one process, for development');
  addCoreFlags(all, laptopDefaults);
  addSharedOperatorsFlags(all, laptopDefaults);
  addWebhookServerFlags(all);
  addCrdGuardFlags(all).action(async (flags: Parameters<typeof runAll>[0]) => {
    const { runAll: run } = await import('./processes/run-all.ts');
    await run(flags, createLogger(flags.zapLogLevel), stopSignal());
  });
}

interface ZoneCommand {
  readonly name: string;
  readonly zone: Zone;
  readonly description: string;
}

const zones: readonly ZoneCommand[] = [
  {
    name: 'unpack',
    zone: 'unpacking',
    description:
      'Run the unpacking half of core: fetch and unpack Bundles, and serve their content',
  },
  {
    name: 'apply',
    zone: 'applying',
    description:
      'Run the applying half of core: install BundleDeployments from content that "unpack" serves',
  },
];

function addZone(
  program: Command,
  { stopSignal, createLogger }: Surroundings,
  { name, zone, description }: ZoneCommand,
): void {
  addZoneFlags(program.command(name).description(description), zone)
    .version(version(), '--version', 'Print the version')
    .action(async (flags: CoreFlags) => {
      const { runCore } = await import('./processes/run-core.ts');
      await runCore({ ...flags, zone }, createLogger(flags.zapLogLevel), stopSignal());
    });
}
