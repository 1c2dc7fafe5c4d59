import { goQuote } from '../../api/go-quote.ts';
import { buildInfo, version } from '../build-info.ts';
import { writeOutput } from '../ctl/output/write-output.ts';
import type { CobraCommand } from './cobra/command.ts';

/** Version of opm with the same commands, texts and outputs. */
const opmVersion = 'v1.73.0';

export const versionCommand: CobraCommand = {
  use: 'version',
  long: 'Print the opm version',
  example: 'kubebuilder version',
  run: async () => {
    const { revision, date } = buildInfo();
    const fields = {
      OpmVersion: `${opmVersion}+rukpak-ts.${version()}`,
      GitCommit: revision,
      BuildDate: date,
      GoOs: process.platform,
      GoArch: process.arch === 'x64' ? 'amd64' : process.arch,
    };
    const texts = Object.entries(fields).map(([name, value]) => `${name}:${goQuote(value)}`);
    await writeOutput([`Version: version.Version{${texts.join(', ')}}\n`], process.stdout);
  },
};
