import { readFile } from 'node:fs/promises';
import { goFileError } from '../../../api/go-file-error.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/write-output.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { exactArgs } from '../cobra/positional-args.ts';
import { logrusFatal } from '../failures.ts';

export const initCommand: CobraCommand = {
  use: 'init <packageName>',
  args: exactArgs(1),
  flags: [
    {
      name: 'default-channel',
      short: 'c',
      kind: 'string',
      usage: 'The channel that subscriptions will default to if unspecified',
    },
    { name: 'icon', short: 'i', kind: 'string', usage: "Path to package's icon" },
    {
      name: 'description',
      short: 'd',
      kind: 'string',
      usage: "Path to the operator's README.md (or other documentation)",
    },
    {
      name: 'output',
      short: 'o',
      kind: 'string',
      default: 'json',
      usage: 'Output format (json|yaml)',
    },
  ],
  run: async (call) => {
    try {
      await init(call);
    } catch (error) {
      throw logrusFatal(errorMessage(error));
    }
  },
};

async function init({ args, flags }: CobraCall): Promise<void> {
  const output = flags.string('output');
  if (output !== 'json' && output !== 'yaml') {
    throw new Error(`invalid --output value ${goQuote(output)}, expected (json|yaml)`);
  }
  const [icon, description] = [
    await contentOf('icon', flags.string('icon')),
    await contentOf('description', flags.string('description')),
  ];
  const { newPackage, writeJson, writeYaml } = await import('../../../catalog/blobs/index.ts');
  const added = newPackage({
    name: args[0] ?? '',
    defaultChannel: flags.string('default-channel'),
    description: description === undefined ? '' : Buffer.from(description).toString('utf8'),
    ...(icon === undefined ? {} : { icon }),
  });
  const none = { channels: [], bundles: [], deprecations: [], others: [] };
  const write = output === 'yaml' ? writeYaml : writeJson;
  await writeOutput(write({ ...none, packages: [added] }), process.stdout);
}

/** Content of a file; undefined for an empty path. */
async function contentOf(what: string, path: string): Promise<Uint8Array | undefined> {
  if (path === '') return undefined;
  try {
    return await readFile(path);
  } catch (error) {
    const reason = goFileError(error, path) ?? errorMessage(error);
    const step = reason.startsWith('open ') ? `open ${what} file` : `read ${what}`;
    throw new Error(`${step}: ${reason}`, { cause: error });
  }
}
