import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packedPackage } from './packed-package.ts';

const run = promisify(execFile);
const compiler = ['typescript@7', '@types/node@24'];

/** A project outside of the checkout that depends on the packed package, as anybody's would. */
export class PackageProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<PackageProject> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-project-'));
    const project = new PackageProject(folder);
    try {
      await project.write('package.json', '{"name": "project", "type": "module", "private": true}');
      const flags = [
        '--prefer-offline',
        '--fetch-retries=5',
        '--no-audit',
        '--no-fund',
        '--no-package-lock',
      ];
      await project.run('npm', ['install', ...flags, await packedPackage(), ...compiler]);
    } catch (error) {
      await project.remove();
      throw error;
    }
    return project;
  }

  async write(path: string, text: string): Promise<void> {
    await writeFile(join(this.folder, path), text);
  }

  /** What a program of the project's printed, all of it; also where it failed. */
  async run(command: string, args: readonly string[]): Promise<string> {
    const { output, code } = await this.end(command, args);
    if (code === 0) return output;
    throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}`);
  }

  async end(
    command: string,
    args: readonly string[],
  ): Promise<{ readonly output: string; readonly code: number }> {
    const own = join(this.folder, 'node_modules/.bin');
    const env = { ...process.env, PATH: `${own}:${process.env['PATH']}` };
    // The marks of the npm and the test runner that this runs in are no concern of the project's.
    for (const name of Object.keys(env)) {
      if (/^(npm_|NODE_OPTIONS$|NODE_TEST_CONTEXT$)/.test(name)) Reflect.deleteProperty(env, name);
    }
    const options = { cwd: this.folder, env, maxBuffer: 64 * 1024 * 1024 };
    try {
      const { stdout, stderr } = await run(command, args, options);
      return { output: stdout + stderr, code: 0 };
    } catch (error) {
      const { stdout = '', stderr = '', code } = error as Partial<Record<string, string>>;
      return { output: stdout + stderr, code: Number(code) };
    }
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
