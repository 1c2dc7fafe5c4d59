import { type ExecFileException, execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packedPackage } from './packed-package.ts';

/** What a new user has on the PATH: Node 24, and npm. */
const path = `${dirname(process.execPath)}:${process.env['PATH']}`;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface NewProject {
  /** Of all; nothing of the checkout is in it. */
  readonly parent: string;
  readonly folder: string;
  /** Where commands are run as in a terminal, but by no `npm run` of ours. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs a command in the project's folder, whatever it answers. */
  run(command: string, ...args: readonly string[]): Promise<CommandResult>;
  /** Throws what it printed where it fails. */
  must(command: string, ...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/** `rukpakctl provisioner new` as a new user runs it: from the packed package, in an empty folder. */
export async function newProject(name: string): Promise<NewProject> {
  const tarball = await packedPackage();
  const parent = await mkdtemp(join(tmpdir(), 'rukpak-scaffold-'));
  const folder = join(parent, name);
  const env = environment();
  const project: NewProject = {
    parent,
    folder,
    env,
    run: (command, ...args) => runIn(folder, env, [command, ...args]),
    must: (command, ...args) => mustIn(folder, env, [command, ...args]),
    remove: () => rm(parent, { recursive: true, force: true }),
  };
  try {
    const tools = [
      '--prefix',
      'tools',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--fetch-retries=5',
    ];
    await mustIn(parent, env, ['npm', 'install', ...tools, tarball]);
    const rukpakctl = join(parent, 'tools/node_modules/.bin/rukpakctl');
    await mustIn(parent, env, [rukpakctl, 'provisioner', 'new', name, '--sdk', tarball]);
  } catch (error) {
    await project.remove();
    throw error;
  }
  return project;
}

function environment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_ENV|KUBECONFIG|VITEST)/.test(name),
  );
  return { ...Object.fromEntries(entries), PATH: path };
}

async function mustIn(
  cwd: string,
  env: NodeJS.ProcessEnv,
  words: readonly string[],
): Promise<string> {
  const { code, stdout, stderr } = await runIn(cwd, env, words);
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

function runIn(
  cwd: string,
  env: NodeJS.ProcessEnv,
  [command = '', ...args]: readonly string[],
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const done = (error: ExecFileException | null, stdout: string, stderr: string): void =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    execFile(command, args, { cwd, env, maxBuffer: 16 * 1024 * 1024 }, done);
  });
}
