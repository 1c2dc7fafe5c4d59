import { goQuote } from '../../../api/go-quote.ts';
import type { CatalogTemplateType } from '../../../catalog/templates/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/write-output.ts';
import type { CobraCall, CobraCommand, CobraRow } from '../cobra/command.ts';
import { maximumArgs } from '../cobra/positional-args.ts';
import { logFatal } from '../failures.ts';
import { contentOf } from './input.ts';

/** `opm alpha convert-template basic` and `substitutes`. */
export const convertTemplateRows: readonly CobraRow[] = (['basic', 'substitutes'] as const).map(
  (type) => ({
    name: type,
    short: `Generate a ${type} template from existing FBC`,
    load: async () => convertCommand(type),
  }),
);

function convertCommand(type: CatalogTemplateType): CobraCommand {
  return {
    use: `${type} [<fbc-file> | -]`,
    long: `Generate a ${type} template from existing FBC.

This command outputs a ${type} catalog template to STDOUT from input FBC.
If no argument is specified or is '-' input is assumed from STDIN.
`,
    args: maximumArgs(1),
    flags: [
      {
        name: 'output',
        short: 'o',
        kind: 'string',
        default: 'json',
        usage: 'Output format (json|yaml)',
      },
    ],
    run: async (call) => await convert(type, call),
  };
}

async function convert(type: CatalogTemplateType, { args, flags }: CobraCall): Promise<void> {
  const output = flags.string('output');
  if (output !== 'json' && output !== 'yaml') {
    throw logFatal(`invalid --output value ${goQuote(output)}, expected (json|yaml)`);
  }
  const [path = '-'] = args;
  const content = await contentOf(path).catch((error: unknown) => {
    throw new Error(`unable to open input: ${goQuote(path)}`, { cause: error });
  });
  const { templateOfCatalog } = await import('../../../catalog/templates/index.ts');
  let text: string;
  try {
    text = templateOfCatalog({ name: '', content }, type, output);
  } catch (error) {
    throw new Error(`converting: ${errorMessage(error)}`, { cause: error });
  }
  await writeOutput([text], process.stdout);
}
