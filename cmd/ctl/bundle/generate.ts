import { Argument, Command, Option } from 'commander';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

interface GenerateFlags extends OutputFlags {
  readonly package: string;
  readonly channels: string;
  readonly defaultChannel: string;
  readonly outputDir: string;
  readonly baseImage: string;
  readonly overwrite?: true;
}

const inferred = 'as in a *.package.yaml beside the directory';

/** `rukpakctl bundle generate`: the metadata of a bundle, and a Dockerfile for its image. */
export function generateCommand(): Command {
  return new Command('generate')
    .addArgument(new Argument('<directory>', 'Directory with the manifests'))
    .addOption(new Option('--package <name>', 'Name of the package').default('', inferred))
    .addOption(new Option('--channels <names>', 'Channels, comma-separated').default('', inferred))
    .addOption(
      new Option('--default-channel <name>', 'Default channel of the package').default(
        '',
        'inferred with the other two, else none',
      ),
    )
    .addOption(
      new Option(
        '--output-dir <directory>',
        'Directory for a copy of the manifests, and the metadata',
      ).default('', 'the directory above the manifests'),
    )
    .option('--base-image <reference>', 'Image that the Dockerfile begins with', 'scratch')
    .option('--overwrite', 'Replace existing files instead of keeping them')
    .addOption(outputOption())
    .action(generate);
}

async function generate(directory: string, flags: GenerateFlags): Promise<void> {
  const { generateBundle } = await import('../../../catalog/images/index.ts');
  const steps: string[] = [];
  const kept = await progressOn(process.stderr)(`reading ${directory}`, () =>
    generateBundle({
      directory,
      outputDir: flags.outputDir,
      packageName: flags.package,
      channels: flags.channels,
      defaultChannel: flags.defaultChannel,
      baseImage: flags.baseImage,
      overwrite: flags.overwrite === true,
      cure: (file) => `--overwrite replaces ${file}`,
      log: (step) => steps.push(step),
    }),
  );
  const report = new Report(flags);
  await report.lines(steps.filter((step) => step.startsWith('Writing ')));
  await report.lines(kept.map((file) => `Kept ${file}`));
  await report.result({ directory, steps, kept });
}
