import { Argument, Command } from 'commander';
import { TerminalError } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import type { AvailablePackage, RemoteCatalogs } from '../../../operators/client/index.ts';
import { counted } from '../terminal/text.ts';
import { tableLines } from '../terminal/tree.ts';
import {
  addOperatorFlags,
  existingCatalogs,
  type OperatorFlags,
  withOperators,
} from './session.ts';

/** `rukpakctl operator search`: the packages of all catalogs of the cluster. */
export function searchCommand(): Command {
  const command = new Command('search').addArgument(
    new Argument(
      '[word]',
      'Part of a name, display name, description or keyword, in any case (default: all packages)',
    ),
  );
  return addOperatorFlags(command).action(search);
}

async function search(word: string | undefined, flags: OperatorFlags): Promise<void> {
  const { searchPackages } = await import('../../../operators/client/index.ts');
  await withOperators(flags, async (session) => {
    const { report, progress } = session;
    const catalogs = await existingCatalogs(session);
    const packages = await progress('reading catalogs', () => searchPackages(catalogs, word));
    checkAnswers(catalogs);
    await report.lines(tableLines(rowsOf(packages), report.width));
    if (packages.length === 0) await report.line(nothingFound(catalogs, word));
    await report.result({ packages, unread: catalogs.unread });
  });
}

/** @throws TerminalError if no catalog has answered */
function checkAnswers(catalogs: RemoteCatalogs): void {
  if (catalogs.unreachable.length < catalogs.serving().length) return;
  throw new TerminalError('no catalog of the cluster can be read');
}

/** Maximum number of channels in a row. */
const listed = 4;

function rowsOf(packages: readonly AvailablePackage[]): readonly (readonly string[])[] {
  if (packages.length === 0) return [];
  return [
    ['NAME', 'VERSION', 'CATALOG', 'CHANNELS', 'MODES', 'DESCRIPTION'],
    ...packages.map(
      ({ name, version, catalog, channels, defaultChannel, installModes, ...described }) => [
        name,
        version || '-',
        `${catalog.kind.toLowerCase()}/${catalog.name}`,
        shortList(
          channels.map((channel) => (channel === defaultChannel ? `${channel}*` : channel)),
          listed,
        ),
        shortList(installModes.map(shortMode), listed) || '-',
        described.description || described.displayName || '-',
      ],
    ),
  ];
}

/** `All` for `AllNamespaces`, `Own` for `OwnNamespace`. */
function shortMode(mode: string): string {
  return mode.replace(/Namespaces?$/, '');
}

function nothingFound(catalogs: RemoteCatalogs, word: string | undefined): string {
  const where = counted(catalogs.serving().length, 'catalog');
  return word === undefined
    ? `${where} without a package`
    : `No package of ${where} matches "${word}".`;
}
