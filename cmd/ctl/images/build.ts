import { readFile, writeFile } from 'node:fs/promises';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { BuiltImage, ImageFormat } from '../../../catalog/images/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import { stopSignal } from '../../../core/platform/stop-signal.ts';
import { collect, listFlag } from '../../flags/flag-values.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

interface BuildFlags extends RegistryFlags, OutputFlags {
  readonly to: string;
  readonly label: readonly string[];
  readonly format: ImageFormat;
  readonly platform: string;
  readonly dockerfile?: string;
  readonly overwrite?: true;
}

type Buildable = 'bundle' | 'catalog';

/**
 * `rukpakctl bundle build` and `rukpakctl catalog build`: builds an image without a container
 * engine.
 */
export function buildCommand(what: Buildable): Command {
  const command = new Command('build')
    .addArgument(new Argument('<directory>', `Directory of the ${what}`))
    .requiredOption(
      '--to <place>',
      'Place for the image: REGISTRY/REPOSITORY:TAG, oci:DIRECTORY[:TAG] or oci-archive:FILE[:TAG]',
    )
    .addOption(listFlag('--label <key=value>', 'Label to add to the image', collect))
    .addOption(
      new Option('--format <format>', 'Media types of the image')
        .choices(['oci', 'docker'])
        .default('oci'),
    )
    .option('--platform <os/architecture>', 'Platform of the image', platform, 'linux/amd64')
    .option(
      '--dockerfile <file>',
      'File for a Dockerfile of the same image, for a build from the working directory',
    )
    .option(
      '--overwrite',
      'Replace the file of oci-archive:FILE, and the Dockerfile, if they exist',
    );
  return addRegistryFlags(command)
    .addOption(outputOption())
    .action((directory: string, flags: BuildFlags) => build(what, directory, flags));
}

async function build(what: Buildable, directory: string, flags: BuildFlags): Promise<void> {
  const [{ buildBundleImage, buildCatalogImage }, { registryAccess }] = await Promise.all([
    import('../../../catalog/images/index.ts'),
    import('../../registry-access.ts'),
  ]);
  const signal = stopSignal();
  const { format, platform, to } = flags;
  if (format === 'docker' && /^oci(?:-archive)?:/.test(to)) {
    throw new InvalidArgumentError(
      '--format docker is for registries: in an OCI layout, skopeo and podman find OCI images only',
    );
  }
  const options = { labels: labelsOf(flags.label), format, platform, signal };
  const access = await registryAccess(flags);
  const make = what === 'bundle' ? buildBundleImage : buildCatalogImage;
  const progress = progressOn(process.stderr);
  const image = await progress(`building ${directory}`, () => make(directory, options));
  try {
    const writeDockerfile = await dockerfileWriter(image, flags);
    await progress(`pushing to ${to}`, async () => {
      const { target, tag } = await access.openTarget(to, flags);
      try {
        await image.push(target, tag, signal);
        await target.close();
      } catch (error) {
        await target.discard();
        throw error;
      }
    });
    await writeDockerfile();
  } finally {
    await image.close();
  }
  const { digest, size, mediaType } = image.descriptor;
  const report = new Report(flags);
  await report.line(`${to} ${digest}`);
  await report.result({ image: to, digest, size, mediaType });
}

/** @throws TerminalError for a file with other content, unless it is to be overwritten */
async function dockerfileWriter(
  image: BuiltImage,
  { dockerfile, overwrite }: BuildFlags,
): Promise<() => Promise<void>> {
  if (dockerfile === undefined) return async () => undefined;
  const text = image.dockerfile(process.cwd());
  const before = await readFile(dockerfile, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  });
  if (before === text) return async () => undefined;
  if (before !== undefined && overwrite !== true) {
    throw new TerminalError(
      `${dockerfile} exists: name another file, or replace it with --overwrite`,
    );
  }
  return async () => await writeFile(dockerfile, text, { flag: overwrite === true ? 'w' : 'wx' });
}

function labelsOf(labels: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    labels.map((label) => {
      const equals = label.indexOf('=');
      if (equals > 0) return [label.slice(0, equals), label.slice(equals + 1)] as const;
      throw new InvalidArgumentError(`--label ${label} is not KEY=VALUE`);
    }),
  );
}

function platform(text: string): string {
  if (/^[a-z0-9]+\/[a-z0-9]+$/.test(text)) return text;
  throw new InvalidArgumentError('It is an operating system and an architecture: linux/amd64.');
}
