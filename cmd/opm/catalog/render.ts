import { goQuote } from '../../../api/go-quote.ts';
import { writeJson, writeYaml } from '../../../catalog/blobs/index.ts';
import {
  imageTemplate,
  migrationsUpTo,
  renderedParts,
  SpooledCatalog,
} from '../../../catalog/render/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/write-output.ts';
import { leaveOutTurboFan } from '../../favour-memory.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { minimumArgs } from '../cobra/positional-args.ts';
import { logFatal } from '../failures.ts';
import { systemAccess } from '../system-access.ts';
import { databaseWarning, migrateLevelFlag, migrationsOf, sqliteNotice } from './migrate-level.ts';

const alphaHelp = `
If rendering sources that do not carry bundle image reference information
(e.g. bundle directories), the --alpha-image-ref-template flag can be used to
generate image references for the rendered file-based catalog objects.
This is useful when generating a catalog with image references prior to
those images actually existing. Available template variables are:
  - {{.Package}} : the package name the bundle belongs to
  - {{.Name}}    : the name of the bundle (for registry+v1 bundles, this is the CSV name)
  - {{.Version}} : the version of the bundle
`;

/** `showAlpha` adds the alpha flags to the help. */
export function renderCommand(showAlpha: boolean): CobraCommand {
  return {
    use: 'render [catalog-image | catalog-directory | bundle-image | bundle-directory | sqlite-file]...',
    long: `Generate a stream of file-based catalog objects to stdout from the provided
catalog images, file-based catalog directories, bundle images, and sqlite
database files.
${showAlpha ? alphaHelp : ''}
${sqliteNotice}`,
    args: minimumArgs(1),
    flags: [
      {
        name: 'output',
        short: 'o',
        kind: 'string',
        default: 'json',
        usage: 'Output format of the streamed file-based catalog objects (json|yaml)',
      },
      migrateLevelFlag,
      {
        name: 'migrate',
        kind: 'bool',
        usage: 'Perform all available schema migrations on the rendered FBC',
      },
      {
        name: 'alpha-image-ref-template',
        kind: 'string',
        usage:
          '(ALPHA: This flag will be removed or renamed in a future release, potentially without notice) When bundle image reference information is unavailable, populate it with this template',
        ...(showAlpha ? {} : { hidden: true as const }),
      },
    ],
    exclusive: [['migrate', 'migrate-level']],
    run: async (call) => {
      try {
        await render(call);
      } catch (error) {
        throw logFatal(errorMessage(error));
      }
    },
  };
}

async function render({ args, flags, signal }: CobraCall): Promise<void> {
  leaveOutTurboFan();
  const output = flags.string('output');
  if (output !== 'json' && output !== 'yaml') {
    throw new Error(`invalid --output value ${goQuote(output)}, expected (json|yaml)`);
  }
  const template = flags.string('alpha-image-ref-template');
  const options = {
    registry: systemAccess(flags, args),
    onDatabase: databaseWarning(),
    signal,
    imageTemplate: template === '' ? undefined : imageTemplate(template),
    migrations: flags.bool('migrate')
      ? migrationsUpTo('all')
      : migrationsOf(flags.string('migrate-level')),
  };
  using catalog = new SpooledCatalog(output === 'yaml' ? writeYaml : writeJson);
  for await (const part of renderedParts(args, options)) catalog.add(part);
  await writeOutput(catalog.text(), process.stdout);
}
