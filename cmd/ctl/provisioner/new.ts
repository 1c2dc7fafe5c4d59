import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { progressOn, writeOutput } from '../output/output.ts';
import { className, parseSdk, type Sdk } from './project.ts';
import type { Project } from './write-project.ts';

interface NewFlags {
  readonly dir?: string;
  readonly sdk?: Sdk;
}

/** `rukpakctl provisioner new`: a project with passing tests, as a start for an own class. */
export function newCommand(): Command {
  return new Command('new')
    .description('Create a project for a provisioner class: the class, its tests and a sample')
    .addArgument(new Argument('<name>', 'Name of the class').argParser(className))
    .option('--dir <folder>', 'Folder of the project (default: the name of the class)')
    .addOption(
      new Option(
        '--sdk <version|file>',
        'Version of rukpak-ts, or file that npm pack wrote (default: the version of this program)',
      ).argParser(parseSdk),
    )
    .action(newProject);
}

async function newProject(name: string, { dir = name, sdk }: NewFlags): Promise<void> {
  const [{ fillFolder }, { stopSignal }] = await Promise.all([
    import('./write-project.ts'),
    import('../../../core/platform/runtime/index.ts'),
  ]);
  const folder = resolve(dir);
  const signal = stopSignal();
  await fillFolder(folder, async (draft) => {
    if (sdk === undefined)
      await withOwnPackage(signal, (own) => fill(draft, { name, sdk: own }, signal));
    else await fill(draft, { name, sdk }, signal);
  });
  await writeOutput([nextSteps(name, folder)], process.stdout);
}

async function fill(folder: string, project: Project, signal: AbortSignal): Promise<void> {
  const { writeLockFile, writeProject } = await import('./write-project.ts');
  await writeProject(folder, project);
  const progress = progressOn(process.stderr);
  await progress('npm writes package-lock.json', () => writeLockFile(folder, signal));
}

async function withOwnPackage(
  signal: AbortSignal,
  work: (sdk: Sdk) => Promise<void>,
): Promise<void> {
  const { packOwnPackage } = await import('./write-project.ts');
  const packed = await mkdtemp(join(tmpdir(), 'rukpak-sdk-'));
  try {
    const progress = progressOn(process.stderr);
    await work(await progress('npm packs rukpak-ts', () => packOwnPackage(packed, signal)));
  } finally {
    await rm(packed, { recursive: true, force: true });
  }
}

function nextSteps(name: string, folder: string): string {
  const path = relative(process.cwd(), folder) || '.';
  return `${basename(folder)} is a project for the provisioner class ${name}; its code is in src/class.ts.

  cd ${path}
  npm install && npm test
  npm run dev         # runs the class on a control plane of its own, again at every save
  npm run sample      # in another terminal: deploys sample/
`;
}
