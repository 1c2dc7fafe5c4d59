import { statSync } from 'node:fs';
import { goFileError } from '../../../api/go-file-error.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/write-output.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { SilentFailure } from '../cobra/failures.ts';
import { exactArgs } from '../cobra/positional-args.ts';
import { logrusFatal } from '../failures.ts';

export const validateCommand: CobraCommand = {
  use: 'validate <directory>',
  long: 'Validate the declarative config JSON file(s) in a given directory',
  args: exactArgs(1),
  flags: [
    {
      name: 'output',
      short: 'o',
      kind: 'string',
      usage: 'Output format for validation results (json|yaml)',
    },
  ],
  run: validate,
};

async function validate({ args, flags, signal }: CobraCall): Promise<void> {
  const [directory = ''] = args;
  checkDirectory(directory);
  const problem = await problemOf(directory, signal);
  const output = flags.string('output');
  if (output === '') {
    if (problem !== undefined) throw logrusFatal(problem);
    return;
  }
  await writeOutput([await resultText(output, problem)], process.stdout);
  if (problem !== undefined) throw new SilentFailure(problem);
}

function checkDirectory(directory: string): void {
  let isDirectory: boolean;
  try {
    isDirectory = statSync(directory).isDirectory();
  } catch (error) {
    throw new Error(goFileError(error, directory) ?? errorMessage(error), { cause: error });
  }
  if (!isDirectory) throw new Error(`${goQuote(directory)} is not a directory`);
}

async function problemOf(directory: string, signal: AbortSignal): Promise<string | undefined> {
  const [{ loadDirectory }, { validateCatalog }] = await Promise.all([
    import('../../../catalog/load/index.ts'),
    import('../../../catalog/validate/index.ts'),
  ]);
  try {
    await validateCatalog(loadDirectory(directory, { signal }));
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

async function resultText(output: string, message: string | undefined): Promise<string> {
  const passed = message === undefined;
  const result = passed ? { passed } : { passed, error: { message } };
  const { goYaml, htmlEscaped } = await import('../../../catalog/blobs/index.ts');
  if (output === 'json') return `${htmlEscaped(JSON.stringify(result, undefined, 2))}\n`;
  if (output === 'yaml') return `${goYaml(result)}\n`;
  throw new Error(`invalid --output value ${goQuote(output)}, expected (json|yaml)`);
}
