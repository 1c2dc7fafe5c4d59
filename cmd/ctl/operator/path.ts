import { Argument, Command } from 'commander';
import type { UpgradeStep } from '../../../resolver/explain/index.ts';
import { counted } from '../terminal/text.ts';
import { tableLines } from '../terminal/tree.ts';
import { addResolutionFlags, channelOption, type OperatorFlags, withOperators } from './session.ts';
import { subjectOf } from './subject.ts';

interface PathFlags extends OperatorFlags {
  readonly to: string;
  readonly from?: string;
  readonly channel?: readonly string[];
  readonly clusterExtension?: true;
}

/** `rukpakctl operator path`: the upgrades to a version, or why there are none. */
export function pathCommand(): Command {
  const command = new Command('path')
    .addArgument(
      new Argument('<operatorName>', 'Name of the Operator or ClusterExtension, or of a package'),
    )
    .requiredOption('--to <versionOrRange>', 'Version to upgrade to')
    .option('--from <versionOrRange>', 'Version to start from (default: the installed version)')
    .addOption(channelOption('Channel of the path (default: that of the object, or all)'))
    .option('--cluster-extension', 'For a package: upgrade as a ClusterExtension does');
  return addResolutionFlags(command).action(path);
}

async function path(reference: string, flags: PathFlags): Promise<void> {
  const { extensionPath } = await import('../../../operators/client/index.ts');
  await withOperators(flags, async (session) => {
    const { channel: channels, to, from, clusterExtension } = flags;
    const wish = { channels, clusterExtension };
    const subject = await subjectOf(session, reference, wish);
    const catalogs = await session.catalogs();
    const found = await session.progress('reading catalogs', () =>
      extensionPath(subject, catalogs, { from, to }),
    );
    const { packageName } = subject.extension.request;
    const { report } = session;
    if (found.path.kind === 'none') {
      process.exitCode = 1;
      const { reason, nearest } = found.path;
      await report.line(reason);
      if (nearest !== undefined) {
        await report.line(
          `The highest version before it that upgrades reach is ${nearest.version}.`,
        );
      }
    } else {
      const { steps } = found.path;
      const length = steps.length === 0 ? 'no upgrade' : counted(steps.length, 'upgrade');
      await report.line(`${packageName} ${found.from} to ${to}: ${length}`);
      await report.lines(stepLines(steps, report.width));
    }
    await report.result({ package: packageName, to, ...found });
  });
}

/** The steps as a table, without headings. */
export function stepLines(steps: readonly UpgradeStep[], width: number): readonly string[] {
  const rows = steps.map(({ bundle, version, catalog, channel, edge }, index) => [
    `${index + 1}.`,
    version || bundle,
    `catalog ${catalog}`,
    channel === undefined ? '' : `channel ${channel}, ${edge ?? ''}`,
  ]);
  return tableLines(rows, width - 2).map((line) => `  ${line}`);
}
