import type { CobraCall, CobraCommand, CobraFlag } from '../cobra/command.ts';
import { noArgs } from '../cobra/positional-args.ts';
import { logrusLine } from '../logrus.ts';

/** Flags of commands that write the metadata of a bundle. */
export const bundleFlags: readonly CobraFlag[] = [
  {
    name: 'package',
    short: 'p',
    kind: 'string',
    usage:
      'The name of the package that bundle image belongs to (Required if `directory` is not pointing to a bundle in the nested bundle format)',
  },
  {
    name: 'channels',
    short: 'c',
    kind: 'string',
    usage:
      'The list of channels that bundle image belongs to(Required if `directory` is not pointing to a bundle in the nested bundle format)',
  },
  {
    name: 'default',
    short: 'e',
    kind: 'string',
    usage: 'The default channel for the bundle image',
  },
  {
    name: 'output-dir',
    short: 'u',
    kind: 'string',
    usage: 'Optional output directory for operator manifests',
  },
  {
    name: 'base-image',
    kind: 'string',
    default: 'scratch',
    usage: 'Use a custom image pullspec as the base bundle image',
  },
];

export const bundleGenerateCommand: CobraCommand = {
  use: 'generate',
  long: `The "opm alpha bundle generate" command will generate operator
bundle metadata if needed and a Dockerfile to build Operator bundle image.

$ opm alpha bundle generate --directory /test/0.1.0/ --package test-operator \\
	--channels stable,beta --default stable

Note:
* All manifests yaml must be in the same directory.`,
  args: noArgs,
  flags: [
    {
      name: 'directory',
      short: 'd',
      kind: 'string',
      usage: 'The directory where bundle manifests for a specific version are located.',
      required: true,
    },
    ...bundleFlags,
  ],
  run: async (call) => await generateMetadata(call, true),
};

/** Writes annotations and Dockerfile; `overwrite` replaces existing files. */
export async function generateMetadata({ flags }: CobraCall, overwrite: boolean): Promise<void> {
  const { generateBundle } = await import('../../../catalog/images/index.ts');
  await generateBundle({
    directory: flags.string('directory'),
    outputDir: flags.string('output-dir'),
    packageName: flags.string('package'),
    channels: flags.string('channels'),
    defaultChannel: flags.string('default'),
    baseImage: flags.string('base-image'),
    overwrite,
    log: (message) => process.stderr.write(`${logrusLine('info', message)}\n`),
  });
}
