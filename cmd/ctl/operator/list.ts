import { Command } from 'commander';
import type { ExtensionRow } from '../../../operators/client/index.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { type OutputFlags, outputOption } from '../output/output.ts';
import { tableLines } from '../terminal/tree.ts';
import { notServed, withOperators } from './session.ts';

/** `rukpakctl operator list`: Operators and ClusterExtensions. */
export function listCommand(): Command {
  return addClusterFlags(new Command('list')).addOption(outputOption()).action(list);
}

async function list(flags: ClusterFlags & OutputFlags): Promise<void> {
  await withOperators(flags, async ({ extensions, report }) => {
    const { kinds, rows } = await extensions();
    if (kinds.size === 0) throw notServed();
    if (rows.length === 0) await report.line('No operators are installed.');
    else await report.lines(tableLines(tableOf(rows, flags.output === 'wide'), report.width));
    await report.result({ operators: rows });
  });
}

function tableOf(rows: readonly ExtensionRow[], isWide: boolean): readonly (readonly string[])[] {
  const headings = ['KIND', 'NAME', 'PACKAGE', 'INSTALLED', 'AVAILABLE', 'READY', 'REASON'];
  return [
    isWide ? [...headings, 'REQUIRED BY', 'MESSAGE'] : headings,
    ...rows.map(({ message, requiredBy, ...row }) => {
      const { kind, name, installed, available, ready, reason } = row;
      const cells = [kind, name, row.package, installed, available, ready, reason];
      return (isWide ? [...cells, requiredBy.join(', '), message] : cells).map(
        (cell) => cell || '-',
      );
    }),
  ];
}
