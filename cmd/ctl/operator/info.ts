import { Argument, Command } from 'commander';
import { TerminalError } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import type { ExtensionRow, PackageInfo, RemoteCatalogs } from '../../../operators/client/index.ts';
import { tableLines } from '../terminal/tree.ts';
import {
  addOperatorFlags,
  existingCatalogs,
  type OperatorFlags,
  withOperators,
} from './session.ts';

/** `rukpakctl operator info`: what each catalog has of a package. */
export function infoCommand(): Command {
  const command = new Command('info').addArgument(
    new Argument('<packageName>', 'Name of the package'),
  );
  return addOperatorFlags(command).action(info);
}

async function info(name: string, flags: OperatorFlags): Promise<void> {
  const { packageInfo } = await import('../../../operators/client/index.ts');
  await withOperators(flags, async (session) => {
    const { report, progress } = session;
    const catalogs = await existingCatalogs(session);
    const found = await progress('reading catalogs', () => packageInfo(catalogs, name));
    if (found.length === 0) throw await packageNotFound(catalogs, name);
    const rows = (await session.extensions()).rows.filter((row) => row.package === name);
    for (const each of found) {
      await report.lines(tableLines(linesOf(each, flags.output === 'wide'), report.width));
    }
    await report.lines(rows.map(installedLine));
    const { unread } = catalogs;
    await report.result({ package: name, catalogs: found, installed: rows, unread });
  });
}

/** The error for a package that no catalog has, with names that are close to it. */
export async function packageNotFound(
  catalogs: RemoteCatalogs,
  name: string,
): Promise<TerminalError> {
  const { closeNames, packageNames } = await import('../../../operators/client/index.ts');
  const close = closeNames(name, await packageNames(catalogs));
  const hint =
    close.length === 0
      ? 'rukpakctl operator search lists all packages'
      : `did you mean ${close.map((each) => `"${each}"`).join(' or ')}?`;
  const where = catalogs.unread.length === 0 ? 'no catalog' : 'no catalog that can be read';
  return new TerminalError(`${where} has package "${name}": ${hint}`);
}

/** Maximum number of versions of a channel; --output wide has all. */
const listed = 10;

function linesOf(info: PackageInfo, isWide: boolean): readonly (readonly string[])[] {
  const { catalog, channels, defaultChannel, deprecations, requires } = info;
  const most = isWide ? Number.POSITIVE_INFINITY : listed;
  return [
    ['Package:', info.name],
    ['Catalog:', `${catalog.kind} ${catalog.name}`],
    ['Display name:', info.displayName || '-'],
    ['Provider:', info.provider || '-'],
    ['Description:', info.description || '-'],
    ['Version:', info.version || '-'],
    ['Default channel:', defaultChannel || '-'],
    ...channels.map(({ name, versions }) => [`Channel ${name}:`, shortList(versions, most)]),
    ['Install modes:', info.installModes.join(', ') || '-'],
    ...requires.map((text) => ['Requires:', text]),
    ...deprecations.map(({ schema, name, message }) => {
      const what = schema === 'olm.package' ? '' : `${schema.slice('olm.'.length)} ${name}: `;
      return ['Deprecated:', `${what}${message}`];
    }),
    [''],
  ];
}

function installedLine({ kind, name, installed, ready, reason }: ExtensionRow): string {
  const version = installed === '' ? 'nothing installed' : `${installed} installed`;
  return `${kind} ${name}: ${version}, Ready ${ready}${reason === '' ? '' : ` (${reason})`}`;
}
