import { readFile } from 'node:fs/promises';
import { Argument, Command, Option } from 'commander';
import { writeOutput } from '../output/output.ts';

interface InitFlags {
  readonly defaultChannel: string;
  readonly description?: string;
  readonly icon?: string;
  readonly output: 'json' | 'yaml';
}

/** `rukpakctl catalog init`: the first blob of a package. */
export function initCommand(): Command {
  return new Command('init')
    .addArgument(new Argument('<package>', 'Name of the package'))
    .addOption(
      new Option(
        '--default-channel <name>',
        'Channel of subscriptions that name no channel',
      ).default('', 'none'),
    )
    .option('--description <file>', 'File with the description, such as a README.md')
    .option('--icon <file>', 'File with the icon: SVG, PNG, JPEG, GIF')
    .addOption(
      new Option('-o, --output <format>', 'Format').choices(['json', 'yaml']).default('yaml'),
    )
    .action(init);
}

async function init(name: string, flags: InitFlags): Promise<void> {
  const { newPackage, writeJson, writeYaml } = await import('../../../catalog/blobs/index.ts');
  const { defaultChannel, description, icon, output } = flags;
  const added = newPackage({
    name,
    defaultChannel,
    description: description === undefined ? '' : await readFile(description, 'utf8'),
    ...(icon === undefined ? {} : { icon: await readFile(icon) }),
  });
  const config = { packages: [added], channels: [], bundles: [], deprecations: [], others: [] };
  const write = output === 'yaml' ? writeYaml : writeJson;
  await writeOutput(write(config), process.stdout);
}
