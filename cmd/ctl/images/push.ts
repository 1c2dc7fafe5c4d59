import { Argument, Command } from 'commander';
import { stopSignal } from '../../../core/platform/stop-signal.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

interface PushFlags extends RegistryFlags, OutputFlags {
  readonly overwrite?: true;
}

/** `rukpakctl bundle push` and `rukpakctl catalog push`: copies an image to another place. */
export function pushCommand(): Command {
  const places = 'REGISTRY/REPOSITORY:TAG, oci:DIRECTORY[:TAG] or oci-archive:FILE[:TAG]';
  const command = new Command('push')
    .addArgument(new Argument('<from>', `Image to push: ${places}`))
    .addArgument(new Argument('<to>', `Place for the image: ${places}`))
    .option('--overwrite', 'Replace the file of oci-archive:FILE if it exists');
  return addRegistryFlags(command).addOption(outputOption()).action(push);
}

async function push(from: string, to: string, flags: PushFlags): Promise<void> {
  const [{ copyImage }, { registryAccess }] = await Promise.all([
    import('../../../core/registry/index.ts'),
    import('../../registry-access.ts'),
  ]);
  const signal = stopSignal();
  const access = await registryAccess(flags);
  const image = await access.open(from, signal);
  try {
    const { target, tag } = await access.openTarget(to, { overwrite: flags.overwrite });
    try {
      const { digest, size, mediaType } = await progressOn(process.stderr)(`pushing to ${to}`, () =>
        copyImage({ ...image, target, tag, signal }),
      );
      await target.close();
      const report = new Report(flags);
      await report.line(`${to} ${digest}`);
      await report.result({ image: to, digest, size, mediaType });
    } catch (error) {
      await target.discard();
      throw error;
    }
  } finally {
    await image.place.close();
  }
}
