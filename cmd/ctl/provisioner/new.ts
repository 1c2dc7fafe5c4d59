import { basename, relative, resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { version } from '../../version.ts';
import { progressOn } from '../progress.ts';
import { writeOutput } from '../write-output.ts';
import { className } from './class-name.ts';
import { parseSdk, type Sdk } from './sdk.ts';

interface NewFlags {
  readonly dir?: string;
  readonly sdk: Sdk;
}

/** `rukpakctl provisioner new`: a project that is green, to be made one's own. */
export function newCommand(): Command {
  const ownVersion = version();
  return new Command('new')
    .description('make a project for a provisioner class: the class, its tests, a sample')
    .addArgument(new Argument('<name>', 'name of the class').argParser(className))
    .option('--dir <folder>', 'where the project goes (default: a folder of the name)')
    .addOption(
      new Option('--sdk <version|file>', 'rukpak-ts from the registry, or packed by npm pack')
        .argParser(parseSdk)
        .default(parseSdk(`^${ownVersion}`), `^${ownVersion}`),
    )
    .action(newProject);
}

async function newProject(name: string, { dir = name, sdk }: NewFlags): Promise<void> {
  const [{ writeProject }, { writeLockFile }] = await Promise.all([
    import('./write-project.ts'),
    import('./lock-file.ts'),
  ]);
  const folder = resolve(dir);
  await writeProject(folder, { name, sdk });
  await progressOn(process.stderr)('npm writes package-lock.json', () => writeLockFile(folder));
  await writeOutput([nextSteps(name, folder)], process.stdout);
}

function nextSteps(name: string, folder: string): string {
  const path = relative(process.cwd(), folder) || '.';
  return `${basename(folder)} is a project for the provisioner class ${name}; what it does is in src/class.ts.

  cd ${path}
  npm ci && npm test
  npm run dev         # runs the class on a control plane of its own, again at every save
  npm run sample      # in another terminal: deploys sample/
`;
}
