import { Command } from 'commander';
import { buildInfo } from '../build-info.ts';
import { type OutputFlags, outputOption, Report } from './output.ts';

/** `rukpakctl version`: what this program was built from (spec section 13). */
export function versionCommand(): Command {
  return new Command('version')
    .description('say which revision this is')
    .addOption(outputOption())
    .action(printVersion);
}

async function printVersion(flags: OutputFlags): Promise<void> {
  const info = buildInfo();
  const report = new Report(flags);
  await report.line(`revision: "${info.revision}", date: "${info.date}", state: "${info.state}"`);
  await report.result(info);
}
