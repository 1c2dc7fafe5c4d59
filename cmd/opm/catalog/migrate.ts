import { goQuote } from '../../../api/go-quote.ts';
import { writeJson, writeYaml } from '../../../catalog/blobs/index.ts';
import { migrateCatalog } from '../../../catalog/render/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { exactArgs } from '../cobra/positional-args.ts';
import { logFatal, logrusFatal } from '../failures.ts';
import { logrusLine } from '../logrus.ts';
import { systemAccess } from '../system-access.ts';
import { databaseWarning, migrateLevelFlag, migrationsOf, sqliteNotice } from './migrate-level.ts';

export const migrateCommand: CobraCommand = {
  use: 'migrate <indexRef> <outputDir>',
  long: `Migrate a sqlite-based index image or database file to a file-based catalog.

NOTE: the --output=json format produces streamable, concatenated JSON files.
These are suitable to opm and jq, but may not be supported by arbitrary JSON
parsers that assume that a file contains exactly one valid JSON object.

${sqliteNotice}`,
  args: exactArgs(2),
  flags: [
    {
      name: 'output',
      short: 'o',
      kind: 'string',
      default: 'json',
      usage: 'Output format (json|yaml)',
    },
    migrateLevelFlag,
  ],
  run: migrate,
};

async function migrate({ args, flags, signal }: CobraCall): Promise<void> {
  const [reference = '', dir = ''] = args;
  const extension = flags.string('output');
  if (extension !== 'json' && extension !== 'yaml') {
    throw logFatal(`invalid --output value ${goQuote(extension)}, expected (json|yaml)`);
  }
  const migrations = migrationsIn(flags.string('migrate-level'));
  log(`rendering index ${goQuote(reference)} as file-based catalog`);
  try {
    await migrateCatalog(reference, {
      registry: systemAccess(flags, [reference]),
      signal,
      onDatabase: databaseWarning(),
      migrations,
      dir,
      write: extension === 'yaml' ? writeYaml : writeJson,
      extension,
    });
  } catch (error) {
    throw logrusFatal(errorMessage(error));
  }
  log(`wrote rendered file-based catalog to ${goQuote(dir)}\n`);
}

function migrationsIn(level: string): ReturnType<typeof migrationsOf> {
  try {
    return migrationsOf(level);
  } catch (error) {
    throw logFatal(errorMessage(error));
  }
}

function log(message: string): void {
  process.stderr.write(`${logrusLine('info', message)}\n`);
}
