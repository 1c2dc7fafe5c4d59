import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packedPackage } from './packed-package.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/rukpak-ts');

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

/**
 * `rukpakctl provisioner new` as a new user runs it: from the packed package, in an empty folder, on
 * a machine whose Node is 20.
 */
export async function newProject(name: string): Promise<NewProject> {
  const tarball = await packedPackage();
  const parent = await mkdtemp(join(tmpdir(), 'rukpak-scaffold-'));
  const folder = join(parent, name);
  const env = environment(await olderNode());
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
    await mustIn(parent, env, ['npm', 'install', ...tools, tarball, 'node@24']);
    const rukpakctl = join(parent, 'tools/node_modules/.bin/rukpakctl');
    await mustIn(parent, env, [rukpakctl, 'provisioner', 'new', name]);
  } catch (error) {
    await project.remove();
    throw error;
  }
  return project;
}

/** The folder of a Node 20, of npm's package of that name; installed once for a checkout. */
async function olderNode(): Promise<string> {
  const place = join(cache, 'node-20');
  const folder = join(place, 'node_modules/node/bin');
  const { PATH = '' } = process.env;
  if (!existsSync(join(folder, 'node'))) {
    await mkdir(cache, { recursive: true });
    const made = await mkdtemp(join(cache, 'node-20-'));
    await mustIn(made, environment(dirname(process.execPath)), [
      'npm',
      'install',
      '--prefix',
      made,
      '--no-audit',
      '--no-fund',
      'node@20',
    ]);
    // Another process may have been quicker.
    await rename(made, place).catch(() => rm(made, { recursive: true, force: true }));
  }
  const { stdout } = await runIn(folder, { PATH }, [join(folder, 'node'), '--version']);
  if (!stdout.startsWith('v20.')) throw new Error(`${folder} has no Node 20: ${stdout}`);
  return folder;
}

function environment(node: string): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_ENV|NODE_OPTIONS|KUBECONFIG|VITEST)/.test(name),
  );
  return { ...Object.fromEntries(entries), PATH: `${node}:${process.env['PATH']}` };
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
