import { Argument, Command } from 'commander';
import { stopSignal } from '../../../core/platform/stop-signal.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

/** `rukpakctl bundle unpack`: writes the files of an image to a directory. */
export function unpackCommand(): Command {
  const command = new Command('unpack')
    .addArgument(
      new Argument(
        '<image>',
        'Image: REGISTRY/REPOSITORY:TAG, oci:DIRECTORY[:TAG] or oci-archive:FILE[:TAG]',
      ),
    )
    .addArgument(new Argument('<directory>', 'New or empty directory for its files'));
  return addRegistryFlags(command).addOption(outputOption()).action(unpack);
}

async function unpack(
  place: string,
  directory: string,
  flags: RegistryFlags & OutputFlags,
): Promise<void> {
  const [{ unpackImage }, { registryAccess }] = await Promise.all([
    import('../../../catalog/images/index.ts'),
    import('../../registry-access.ts'),
  ]);
  const signal = stopSignal();
  const image = await (await registryAccess(flags)).open(place, signal);
  try {
    const labels = await progressOn(process.stderr)(`unpacking ${place}`, () =>
      unpackImage(image, directory, { signal }),
    );
    const { digest } = image.manifest;
    const report = new Report(flags);
    await report.line(`${directory} ${digest}`);
    await report.result({ directory, digest, labels });
  } finally {
    await image.place.close();
  }
}
