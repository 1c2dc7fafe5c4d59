import { Argument, Command } from 'commander';
import type { ExtensionExplanation } from '../../../operators/client/index.ts';
import { addResolutionFlags, channelOption, type OperatorFlags, withOperators } from './session.ts';
import { subjectOf } from './subject.ts';

interface ExplainFlags extends OperatorFlags {
  readonly channel?: readonly string[];
  readonly version?: string;
  readonly clusterExtension?: true;
}

/** `rukpakctl operator explain`: why an Operator or ClusterExtension gets its bundle, or none. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .addArgument(
      new Argument('<operatorName>', 'Name of the Operator or ClusterExtension, or of a package'),
    )
    .addOption(channelOption('Channel to resolve with, instead of the object’s'))
    .option(
      '-v, --version <versionRange>',
      'Version or range to resolve with, instead of the object’s',
    )
    .option('--cluster-extension', 'For a package: resolve as for a ClusterExtension');
  return addResolutionFlags(command).action(explain);
}

async function explain(reference: string, flags: ExplainFlags): Promise<void> {
  const [{ explainExtension }, { explanationText }] = await Promise.all([
    import('../../../operators/client/index.ts'),
    import('../../../resolver/explain/index.ts'),
  ]);
  await withOperators(flags, async (session) => {
    const { channel: channels, version, clusterExtension } = flags;
    const subject = await subjectOf(session, reference, { channels, version, clusterExtension });
    const catalogs = await session.catalogs();
    const answer = await session.progress('reading catalogs', () =>
      explainExtension(subject, catalogs),
    );
    const { installed } = subject.installation;
    const { report } = session;
    const { id, request } = subject.extension;
    await report.line(`${id}: ${installed?.version || 'nothing'} is installed, ${chosen(answer)}`);
    await report.lines(answer.requires.map(requirementLine));
    await report.line(`\n${explanationText(answer.explanation).trimEnd()}`);
    const object = { of: id, package: request.packageName, installed: installed ?? null };
    await report.result({ ...object, ...answer, selected: answer.selected ?? null });
  });
}

function chosen({ selected }: ExtensionExplanation): string {
  if (selected === undefined) return 'nothing is selected';
  const { version, name, catalog } = selected;
  return `${version || name} of catalog "${catalog}" is selected`;
}

function requirementLine({ text, metBy }: ExtensionExplanation['requires'][number]): string {
  return `  requires ${text}: ${metBy === undefined ? 'not installed' : `met by ${metBy}`}`;
}
