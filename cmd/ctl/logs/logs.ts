import { Argument, Command, Option } from 'commander';
import { durationOption } from '../../flags/flag-values.ts';
import {
  addClusterFlags,
  type ClusterFlags,
  repeated,
  type WatchFlag,
  watchOption,
} from '../flags.ts';
import { writeOutput } from '../output/output.ts';
import { readableLine } from '../output/readable-line.ts';
import { visibleLine } from '../terminal/text.ts';

interface LogsFlags extends ClusterFlags, WatchFlag {
  readonly systemNamespace: string;
  /** Milliseconds. */
  readonly since: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly output: 'text' | 'json';
}

/** `rukpakctl logs`: log lines of the system's programs, of one deployment or all. */
export function logsCommand(): Command {
  const command = new Command('logs')
    .addArgument(
      new Argument(
        '[bundleDeploymentName]',
        'Name of the BundleDeployment; only lines that name it or its Bundles are shown (default: all lines)',
      ),
    )
    .addOption(durationOption('--since', 'Maximum age of the lines', '1h'))
    .addOption(
      new Option('--level <level>', 'Lowest level that is shown')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addOption(watchOption('Also print new lines'))
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system')
    .addOption(
      new Option('-o, --output <format>', 'Output format: readable lines, or JSON as logged')
        .choices(['text', 'json'])
        .default('text'),
    );
  return addClusterFlags(command).action(logs);
}

async function logs(name: string | undefined, flags: LogsFlags): Promise<void> {
  const [{ withCluster }, { LogReader }] = await Promise.all([
    import('../cluster.ts'),
    import('./log-reader.ts'),
  ]);
  const { systemNamespace: namespace, level, watch = false } = flags;
  const show = flags.output === 'json' ? asLogged : readableLine;
  await withCluster(flags, async ({ client, signal }) => {
    const since = new Date(Date.now() - flags.since);
    const reader = new LogReader(client, { namespace, name, level, since });
    let isFirst = true;
    await repeated({ watch, signal }, async () => {
      const lines = await reader.more(signal);
      const nothing = isFirst && !watch && lines.length === 0;
      isFirst = false;
      await writeOutput(
        lines.map(({ text }) => `${show(text)}\n`),
        process.stdout,
      );
      if (nothing) process.stderr.write(`${nothingOf(name, flags)}\n`);
    });
  });
}

/** Escapes control characters only for a terminal. */
function asLogged(line: string): string {
  return process.stdout.isTTY ? visibleLine(line) : line;
}

function nothingOf(name: string | undefined, { level, since }: LogsFlags): string {
  const about = name === undefined ? '' : ` about "${name}"`;
  return `nothing of level ${level} or above is logged${about} in the last ${since / 60_000} minutes`;
}
