import { type Migration, migrations, migrationsUpTo } from '../../../catalog/render/index.ts';
import type { CobraFlag } from '../cobra/command.ts';
import { logrusLine } from '../logrus.ts';

const width = Math.max(...migrations.map(({ name }) => name.length));
const list = migrations.map(({ name, summary }) => `  - ${name.padEnd(width)} : ${summary}\n`);

/** `--migrate-level`, with its long help. */
export const migrateLevelFlag: CobraFlag = {
  name: 'migrate-level',
  kind: 'string',
  usage: `Name of the last migration to run (default: none)

The migrator will run all migrations up to and including the selected level.

Available migrators:
${list.join('')}`,
};

/** @throws TerminalError for an unknown level */
export function migrationsOf(level: string): readonly Migration[] {
  return level === '' ? [] : migrationsUpTo(level);
}

/** opm's deprecation notice for SQLite, in yellow. */
export const sqliteNotice = `\u001b[1;33mDEPRECATION NOTICE:
Sqlite-based catalogs and their related subcommands are deprecated. Support for
them will be removed in a future release. Please migrate your catalog workflows
to the new file-based catalog format.\u001b[0m`;

/** Returns a function that warns on stderr at its first call. */
export function databaseWarning(): () => void {
  let hasWarned = false;
  return () => {
    if (!hasWarned) process.stderr.write(`${logrusLine('warning', sqliteNotice)}\n`);
    hasWarned = true;
  };
}
